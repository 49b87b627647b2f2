//! What a task waits for, as the futures say that had to wait in the task's last poll.
//!
//! A future that is about to return `Pending` leaves a note in the header of the running task. Of
//! several futures that wait in one poll, the first one is noted, which in a `timeout` is the
//! limited future. If the first one waits again in the same poll, a loop has come round, and the
//! note is as after the first time.
//!
//! A note is one word. While a task is scheduled, it waits for nothing but its turn, so the same
//! word says that it is scheduled, and since when where that time is measured. With another word, a
//! small task was too large for the allocator's class of small pieces (when other parts of it were
//! larger), and a spawn took 160 more instructions. [`Progress`](crate::task::cell::progress) has
//! the protocol.
#![allow(unsafe_code, reason = "packs a reference to a place of the code into a word of a header")]

use std::panic::Location;
use std::ptr;

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;
use crate::task::Id;

/// What a future waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A moment on the runtime's clock, in nanoseconds.
    Timer(u64),
    Readable(i32),
    Writable(i32),
    /// The end of a task.
    Task(Id),
    /// The end of any task of the `JoinSet` whose roll has this number.
    AnyOf(u64),
    /// A future of another kind, which waits at this place of its code.
    At(&'static Location<'static>),
}

/// The same in the bits of a note. Where the kind of wait is known, packing takes three
/// instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedWait(u64);

/// The word in a task's header, in these bits:
///
/// | 0 to 2 | 3 to 47 | 48 |
/// |---|---|---|
/// | the kind, or [`SCHEDULED`] | what is waited for, or the stamp | others had to wait, too |
///
/// Written by the thread that has the task's [`Runnable`](crate::task::Runnable), read by any thread.
/// Release and Acquire: a reader that sees the word of a poll sees that the poll has begun
/// ([`Progress`](crate::task::cell::progress)). A place is never freed.
#[derive(Debug)]
pub(in crate::task) struct Note(AtomicU64);

const KIND_BITS: u32 = 3;
const KIND: u64 = (1 << KIND_BITS) - 1;
/// The kind of a task that is scheduled, which is no wait. Its value is a [`Stamp`], or 0.
const SCHEDULED: u64 = 6;
/// The kind of a place whose address does not fit.
const UNKNOWN: u64 = 7;
/// As many as an address has on x86-64 and aarch64, unless a program asks for memory beyond that.
const WAIT_BITS: u32 = 48;
const WAIT: u64 = (1 << WAIT_BITS) - 1;
const OTHERS: u64 = 1 << WAIT_BITS;

/// Nanoseconds of a timer's unit, as a power of two: about a millisecond, so that the bits suffice.
const TIMER_UNIT: u32 = 20;

impl Note {
    #[inline]
    pub(in crate::task) fn scheduled() -> Note {
        Note(AtomicU64::new(SCHEDULED))
    }

    /// The task is scheduled. The waker stores without reading, so it needs the cache line once.
    #[inline]
    pub(in crate::task) fn schedule(&self) {
        self.0.store(SCHEDULED, Release);
    }

    /// The task is scheduled, `now` nanoseconds after some moment of its scheduler.
    pub(in crate::task) fn stamp(&self, now: u64) {
        self.0.store(u64::from(Stamp::of(now).0) << KIND_BITS | SCHEDULED, Release);
    }

    /// When the task was scheduled, if that is measured. Called by the machine that is about to
    /// poll the task.
    pub(in crate::task) fn stamped(&self) -> Option<Stamp> {
        self.read().stamp()
    }

    /// A poll begins, and no future has had to wait yet.
    #[inline]
    pub(in crate::task) fn clear(&self) {
        self.0.store(0, Release);
    }

    /// A future has to wait. Called by the thread that polls the task.
    #[inline]
    pub(in crate::task) fn wait(&self, wait: PackedWait) {
        let before = self.0.load(Relaxed);
        let is_another = before != 0 && (before ^ wait.0) & WAIT != 0;
        self.0.store(if is_another { before | OTHERS } else { wait.0 }, Release);
    }

    #[inline]
    pub(in crate::task) fn read(&self) -> Noted {
        Noted(self.0.load(Acquire))
    }
}

/// What a reader has found in a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted(u64);

impl Noted {
    #[inline]
    pub(in crate::task) fn is_scheduled(self) -> bool {
        self.0 & KIND == SCHEDULED
    }

    fn stamp(self) -> Option<Stamp> {
        let stamp = (self.0 >> KIND_BITS) as u32;
        (self.is_scheduled() && stamp != 0).then_some(Stamp(stamp))
    }

    /// What the first of the futures waits for, and whether others had to wait. `None`: no future
    /// has said so.
    pub(in crate::task) fn wait(self) -> Option<(Wait, bool)> {
        Some((Wait::unpack(self.0 & WAIT)?, self.0 & OTHERS != 0))
    }
}

impl Wait {
    #[inline]
    pub(crate) fn pack(self) -> PackedWait {
        let (kind, value) = match self {
            Wait::Timer(at) => (1, at >> TIMER_UNIT),
            Wait::Readable(fd) => (2, fd as u64),
            Wait::Writable(fd) => (3, fd as u64),
            Wait::Task(id) => (4, id.as_u64()),
            Wait::AnyOf(roll) => (5, roll),
            Wait::At(location) => {
                return PackedWait(pack_address(ptr::from_ref(location).expose_provenance() as u64));
            }
        };
        PackedWait((value << KIND_BITS | kind) & WAIT)
    }

    fn unpack(wait: u64) -> Option<Wait> {
        let value = wait >> KIND_BITS;
        Some(match wait & KIND {
            0 => Wait::At(location_at(wait as usize)?),
            1 => Wait::Timer(value << TIMER_UNIT),
            2 => Wait::Readable(value as i32),
            3 => Wait::Writable(value as i32),
            4 => Wait::Task(Id::from_u64(value)?),
            5 => Wait::AnyOf(value),
            _ => return None,
        })
    }
}

/// An address is its own note of kind 0, if the bits of the kind and those beyond a wait are free.
fn pack_address(address: u64) -> u64 {
    if address & (KIND | !WAIT) == 0 { address } else { UNKNOWN }
}

fn location_at(address: usize) -> Option<&'static Location<'static>> {
    // SAFETY: the address is 0, or the whole address of a static reference to that type, which
    // `pack` has exposed: it packs no part of an address.
    unsafe { ptr::with_exposed_provenance::<Location<'static>>(address).as_ref() }
}

/// A moment in units of 64 ns, never 0. It wraps round after 4.6 minutes: no task waits for so long
/// to be polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u32);

/// Nanoseconds of a unit, as a power of two.
const UNIT: u32 = 6;

impl Stamp {
    fn of(now: u64) -> Stamp {
        Stamp(((now >> UNIT) as u32).max(1))
    }

    /// In nanoseconds, exact to a unit.
    pub(crate) fn age(self, now: u64) -> u64 {
        let units = ((now >> UNIT) as u32).wrapping_sub(self.0);
        // The moment 0 was written as 1.
        if units == u32::MAX { 0 } else { u64::from(units) << UNIT }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        let id = Id::from_u64((1 << 44) - 1).unwrap();
        let at = Location::caller();
        let kinds = [Wait::Timer(1 << 60), Wait::Readable(0), Wait::Writable(7), Wait::Task(id), Wait::AnyOf(3)];
        for wait in kinds.into_iter().chain([Wait::At(at)]) {
            assert_eq!(Wait::unpack(wait.pack().0), Some(wait));
        }
        assert_eq!(Wait::unpack(0), None);
    }

    #[test]
    fn an_address_that_does_not_fit_is_not_noted() {
        for address in [1, 4, 1 << WAIT_BITS, u64::MAX - 7] {
            assert_eq!(Wait::unpack(pack_address(address)), None);
        }
        assert_eq!(pack_address(WAIT - 7), WAIT - 7);
    }

    #[test]
    fn the_first_of_several_futures_is_noted() {
        let note = Note::scheduled();
        note.clear();
        assert_eq!(note.read().wait(), None);
        for fd in [3, 4, 5] {
            note.wait(Wait::Readable(fd).pack());
        }
        assert_eq!(note.read().wait(), Some((Wait::Readable(3), true)));
    }

    #[test]
    fn a_loop_that_comes_round_counts_from_the_beginning() {
        let note = Note::scheduled();
        note.clear();
        for fd in [3, 4, 3] {
            note.wait(Wait::Readable(fd).pack());
        }
        assert_eq!(note.read().wait(), Some((Wait::Readable(3), false)));
    }

    #[test]
    fn a_stamp_knows_its_age_across_the_wrap() {
        let note = Note::scheduled();
        assert!(note.read().is_scheduled() && note.stamped().is_none(), "nobody has measured");
        for now in [0, 63, 64, 1_000_000, (1 << 38) - 64, 1 << 38, 5 << 38] {
            note.stamp(now);
            assert!(note.read().is_scheduled());
            let stamp = note.stamped().unwrap();
            assert_eq!(stamp.age(now), 0, "{now}");
            let age = stamp.age(now + 10_000_000);
            assert!(age.abs_diff(10_000_000) <= 128, "{age} at {now}");
        }
        note.clear();
        assert!(note.stamped().is_none(), "the poll has begun");
    }
}
