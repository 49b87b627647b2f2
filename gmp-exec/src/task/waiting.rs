//! What a task waits for, as the futures say that had to wait in the task's last poll.
//!
//! A future that is about to return `Pending` leaves a note in the header of the running task. A
//! poll that leaves no note costs nothing, because a note has the number of its poll: a note of an
//! earlier poll says nothing. Of several futures that wait in one poll, the first one is noted,
//! which in a `timeout` is the limited future. If the first one waits again in the same poll, a loop
//! has come round, and the note is as after the first time.
//!
//! | thread that polls the task, in poll *n* | dump |
//! |---|---|
//! | the note with *n* | reads that the task waits, and *n* |
//! | the poll ends: the task waits (Release) | reads the note, which counts only if its number is *n* |
//!
//! The dump reads the stage with Acquire, so it sees the note of poll *n* if the task waits since
//! that poll. If the task is polled meanwhile, the dump may read the note of a later poll, and the
//! numbers differ. In the other order, note first, the dump could miss the note of the last poll.
//!
//! A note is one word, and shares it with the stamp of a scheduled task, so that small tasks stay
//! within the allocator's class of small pieces: with a word more, spawning one took 160
//! instructions more. The word has the last 15 bits of the number of the poll. So a task that has
//! left no note in its last 32 768 polls may be said to wait for what it waited for then.
//!
//! While a task is scheduled, it waits for nothing but its turn. Where that time is measured, the
//! word has the moment at which the task was scheduled instead.
#![allow(unsafe_code, reason = "packs a reference to a place of the code into a word of a header")]

use std::panic::Location;
use std::ptr;

use super::Id;
use super::progress::Progress;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;

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

/// The same in the bits of a note. Where the kind of wait is known, packing takes three instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedWait(u64);

/// The note in a task's header, in these bits:
///
/// | 0 to 2 | 3 to 47 | 48 | 49 to 63 |
/// |---|---|---|---|
/// | the kind of wait | what is waited for | other futures had to wait, too | the number of the poll |
///
/// Written by the thread that has the task's [`Runnable`](super::Runnable), read by any thread.
/// Relaxed: the stage in [`Progress`] orders the note of the last poll before its reader, and a
/// place is never freed.
#[derive(Debug)]
pub(super) struct Waiting(AtomicU64);

const KIND_BITS: u32 = 3;
const KIND: u64 = (1 << KIND_BITS) - 1;
/// The kind of a stamp, which is no wait.
const STAMP: u64 = 6;
/// The kind of a place whose address does not fit.
const UNKNOWN: u64 = 7;
/// As many as an address has on x86-64 and aarch64, unless a program asks for memory beyond.
const WAIT_BITS: u32 = 48;
const WAIT: u64 = (1 << WAIT_BITS) - 1;
const OTHERS: u64 = 1 << WAIT_BITS;
const POLL_BITS: u32 = 49;

/// Nanoseconds of a timer's unit, as a power of two: about a millisecond, so that the bits suffice.
const TIMER_UNIT: u32 = 20;

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting(AtomicU64::new(0))
    }

    /// Called by the thread that polls the task.
    #[inline]
    pub(super) fn note(&self, wait: PackedWait, progress: &Progress) {
        let (before, note) = (self.0.load(Relaxed), wait.0 | of_poll(progress.polls()));
        let is_another = before >> POLL_BITS == note >> POLL_BITS && (before ^ note) & WAIT != 0;
        self.0.store(if is_another { before | OTHERS } else { note }, Relaxed);
    }

    /// What the first of the futures waits for, and whether others had to wait. `None`: the task
    /// does not wait, or no future has left a note. Called by any thread.
    pub(super) fn read(&self, progress: &Progress) -> Option<(Wait, bool)> {
        let poll = progress.waits_since()?;
        let note = self.0.load(Relaxed);
        let is_of_last_poll = note >> POLL_BITS == of_poll(poll) >> POLL_BITS;
        Some((Wait::unpack(note & WAIT).filter(|_| is_of_last_poll)?, note & OTHERS != 0))
    }

    /// The task is scheduled, `now` nanoseconds after some moment of its scheduler.
    pub(super) fn stamp(&self, now: u64) {
        self.0.store(u64::from(Stamp::of(now).0) << KIND_BITS | STAMP, Relaxed);
    }

    /// The machine that is about to poll the task takes the stamp, if there is one.
    pub(super) fn take_stamp(&self) -> Option<Stamp> {
        let word = self.0.load(Relaxed);
        if word & KIND != STAMP {
            return None;
        }
        self.0.store(0, Relaxed);
        Some(Stamp((word >> KIND_BITS) as u32))
    }
}

fn of_poll(poll: u32) -> u64 {
    u64::from(poll) << POLL_BITS
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
    // SAFETY: the address is 0, or the whole address of a static reference to that type, which `pack`
    // has exposed: it packs no part of an address.
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
    fn a_note_counts_while_the_task_waits_after_the_poll_that_wrote_it() {
        let (waiting, progress) = (Waiting::new(), Progress::new());
        assert_eq!(waiting.read(&progress), None, "it has never been polled");
        progress.begin_poll();
        waiting.note(Wait::Readable(3).pack(), &progress);
        waiting.note(Wait::Readable(4).pack(), &progress);
        waiting.note(Wait::Readable(5).pack(), &progress);
        assert_eq!(waiting.read(&progress), None, "it runs");
        progress.wait();
        assert_eq!(waiting.read(&progress), Some((Wait::Readable(3), true)));
        progress.schedule();
        assert_eq!(waiting.read(&progress), None, "it was woken");
        progress.begin_poll();
        progress.wait();
        assert_eq!(waiting.read(&progress), None, "its last poll has left no note");
    }

    #[test]
    fn a_loop_that_comes_round_counts_from_the_beginning() {
        let (waiting, progress) = (Waiting::new(), Progress::new());
        progress.begin_poll();
        for fd in [3, 4, 3] {
            waiting.note(Wait::Readable(fd).pack(), &progress);
        }
        progress.wait();
        assert_eq!(waiting.read(&progress), Some((Wait::Readable(3), false)));
    }

    #[test]
    fn a_stamp_is_taken_once_and_knows_its_age_across_the_wrap() {
        let waiting = Waiting::new();
        assert!(waiting.take_stamp().is_none());
        for now in [0, 63, 64, 1_000_000, (1 << 38) - 64, 1 << 38, 5 << 38] {
            waiting.stamp(now);
            let stamp = waiting.take_stamp().unwrap();
            assert!(waiting.take_stamp().is_none());
            assert_eq!(stamp.age(now), 0, "{now}");
            let age = stamp.age(now + 10_000_000);
            assert!(age.abs_diff(10_000_000) <= 128, "{age} at {now}");
        }
    }
}
