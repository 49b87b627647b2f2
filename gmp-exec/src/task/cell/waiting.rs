//! What a task waits for, as the futures say that had to wait in the task's last poll.
//!
//! A future that is about to return `Pending` leaves a note in the header of the running task. The
//! first one is in the header itself, which in a `timeout` is the limited future. The others are in
//! a block beside it ([`Further`]). A future that waits again in the same poll is there once. Of
//! timers the last one is noted: a timer that a loop sets anew would be there as many times.
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
use crate::task::cell::further::{Further, WORDS};
use crate::task::{Id, sites};

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
    /// A lock or channel of tokio's.
    Sync(SyncWait),
    /// A future of another kind, which waits at this place of its code.
    At(&'static Location<'static>),
}

/// A wait for a lock or channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SyncWait {
    pub(crate) resource: Resource,
    /// Permits of a semaphore; of a full channel, its capacity. At most [`MOST`].
    pub(crate) amount: u32,
    /// Where it was created, or in tokio's code if that is not known.
    pub(crate) created: &'static Location<'static>,
}

/// What kind of lock or channel of tokio's it is, and what is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Resource {
    /// Permits of a semaphore.
    Semaphore = 1,
    /// The lock of a mutex.
    Mutex,
    /// A lock of an `RwLock`.
    RwLock,
    /// The end of a `OnceCell`'s initialisation.
    OnceCell,
    /// Room in a channel.
    Sender,
    /// A message of a channel.
    Receiver,
    /// A notification.
    Notify,
    /// A change of a `watch` channel.
    Watch,
    /// The end of all receivers of a channel.
    Closed,
    /// The value of a oneshot channel.
    Oneshot,
    /// A value of a `broadcast` channel.
    Broadcast,
}

/// By their numbers.
const RESOURCES: [Resource; 11] = [
    Resource::Semaphore,
    Resource::Mutex,
    Resource::RwLock,
    Resource::OnceCell,
    Resource::Sender,
    Resource::Receiver,
    Resource::Notify,
    Resource::Watch,
    Resource::Closed,
    Resource::Oneshot,
    Resource::Broadcast,
];

/// The same in the bits of a note. Where the kind of wait is known, packing takes three
/// instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedWait(u64);

/// The word in a task's header, in these bits:
///
/// | 0 to 2 | 3 to 47 | 48 to 52 | 53 to 62 | 63 |
/// |---|---|---|---|---|
/// | kind, or [`SCHEDULED`] | what is waited for, or the stamp | [`Resource`] | its amount | others wait, too |
///
/// Written by the thread that has the task's [`Runnable`](crate::task::Runnable), read by any thread.
/// Release and Acquire: a reader that sees the word of a poll sees that the poll has begun
/// ([`Progress`](crate::task::cell::progress)). A place is never freed.
#[derive(Debug)]
pub(in crate::task) struct Note(AtomicU64);

const KIND_BITS: u32 = 3;
const KIND: u64 = (1 << KIND_BITS) - 1;
const TIMER: u64 = 1;
/// The kind of a task that is scheduled, which is no wait. Its value is a [`Stamp`], or 0.
const SCHEDULED: u64 = 6;
/// The kind of a place whose address does not fit.
const UNKNOWN: u64 = 7;
/// Instead of nothing: the futures of this poll give their stacks (`sites`).
const SITES: u64 = 1 << KIND_BITS | UNKNOWN;
/// As many as an address has on x86-64 and aarch64, unless a program asks for memory beyond that.
const WAIT_BITS: u32 = 48;
const WAIT: u64 = (1 << WAIT_BITS) - 1;
const RESOURCE: u64 = (1 << (AMOUNT_AT - WAIT_BITS)) - 1;
const AMOUNT_AT: u32 = 53;
/// The largest amount that is told from larger ones.
pub(crate) const MOST: u32 = (1 << (63 - AMOUNT_AT)) - 1;
const OTHERS: u64 = 1 << 63;

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

    /// A closure waits for a permit of the pool since `now`, in nanoseconds. Not a [`Stamp`]: it may
    /// wait for long.
    pub(in crate::task) fn queue(&self, now: u64) {
        self.0.store((now >> TIMER_UNIT).max(1) << KIND_BITS & WAIT | SCHEDULED, Release);
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

    /// A poll begins whose futures give their stacks.
    pub(in crate::task) fn note_site(&self) {
        self.0.store(SITES, Release);
    }

    /// A future has to wait. Called by the thread that polls the task.
    #[inline]
    pub(in crate::task) fn wait(&self, wait: PackedWait, further: &Further) {
        let before = self.0.load(Relaxed);
        if before == 0 {
            self.0.store(wait.0, Release);
        } else if before & !OTHERS != wait.0 {
            self.also(before, wait.0, further);
        }
    }

    #[inline(never)]
    fn also(&self, before: u64, wait: u64, further: &Further) {
        sites::note();
        if before == SITES {
            return self.0.store(wait, Release);
        }
        let others = before & OTHERS;
        if is_timer(before) && is_timer(wait) {
            self.0.store(wait | others, Release);
            return;
        }
        further.add(wait, UNKNOWN, others == 0, |other| is_timer(wait) && is_timer(other));
        self.0.store(before | OTHERS, Release);
    }

    #[inline]
    pub(in crate::task) fn read(&self) -> Noted {
        Noted(self.0.load(Acquire))
    }
}

fn is_timer(wait: u64) -> bool {
    wait & KIND == TIMER
}

/// What a reader has found in a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted(u64);

impl Noted {
    #[inline]
    pub(in crate::task) fn is_scheduled(self) -> bool {
        self.0 & KIND == SCHEDULED
    }

    /// Since when a closure of the pool waits, in nanoseconds.
    pub(in crate::task) fn queued_at(self) -> Option<u64> {
        let at = (self.0 & WAIT) >> KIND_BITS;
        (self.is_scheduled() && at != 0).then_some(at << TIMER_UNIT)
    }

    fn stamp(self) -> Option<Stamp> {
        let stamp = (self.0 >> KIND_BITS) as u32;
        (self.is_scheduled() && stamp != 0).then_some(Stamp(stamp))
    }

    pub(in crate::task) fn has_others(self) -> bool {
        self.0 & OTHERS != 0
    }

    /// The word of the first wait.
    pub(in crate::task) fn first(self) -> u64 {
        self.0 & !OTHERS
    }
}

/// The words of all waits of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(in crate::task) first: u64,
    pub(in crate::task) further: [u64; WORDS],
}

impl Waits {
    /// What is waited for, in the order in which the futures had to wait, and whether there is more
    /// than that.
    pub(crate) fn unpack(self) -> (Vec<Wait>, bool) {
        let words = || [self.first].into_iter().chain(self.further);
        (words().filter_map(Wait::unpack).collect(), words().any(|word| word == UNKNOWN))
    }
}

impl Wait {
    #[inline]
    pub(crate) fn pack(self) -> PackedWait {
        let (kind, value) = match self {
            Wait::Timer(at) => (TIMER, at >> TIMER_UNIT),
            Wait::Readable(fd) => (2, fd as u64),
            Wait::Writable(fd) => (3, fd as u64),
            Wait::Task(id) => (4, id.as_u64()),
            Wait::AnyOf(roll) => (5, roll),
            Wait::At(place) => return PackedWait(pack_place(place)),
            Wait::Sync(SyncWait { resource, amount, created }) => {
                let what = (resource as u64) << WAIT_BITS | u64::from(amount.min(MOST)) << AMOUNT_AT;
                return PackedWait(pack_place(created) | what);
            }
        };
        PackedWait((value << KIND_BITS | kind) & WAIT)
    }

    fn unpack(word: u64) -> Option<Wait> {
        let wait = word & WAIT;
        let value = wait >> KIND_BITS;
        Some(match wait & KIND {
            0 => {
                let place = location_at(wait as usize)?;
                match (word >> WAIT_BITS & RESOURCE).checked_sub(1) {
                    None => Wait::At(place),
                    Some(index) => Wait::Sync(SyncWait {
                        resource: *RESOURCES.get(index as usize)?,
                        amount: (word >> AMOUNT_AT) as u32 & MOST,
                        created: place,
                    }),
                }
            }
            TIMER => Wait::Timer(value << TIMER_UNIT),
            2 => Wait::Readable(value as i32),
            3 => Wait::Writable(value as i32),
            4 => Wait::Task(Id::from_u64(value)?),
            5 => Wait::AnyOf(value),
            _ => return None,
        })
    }
}

fn pack_place(place: &'static Location<'static>) -> u64 {
    pack_address(ptr::from_ref(place).expose_provenance() as u64)
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

    fn waits(note: &Note, further: &Further) -> (Vec<Wait>, bool) {
        let noted = note.read();
        let further = if noted.has_others() { further.read() } else { [0; WORDS] };
        Waits { first: noted.first(), further }.unpack()
    }

    fn after(waits_in_a_poll: &[Wait]) -> (Vec<Wait>, bool) {
        let (note, further) = (Note::scheduled(), Further::new());
        for _ in 0..2 {
            note.clear();
            waits_in_a_poll.iter().for_each(|wait| note.wait(wait.pack(), &further));
        }
        waits(&note, &further)
    }

    #[test]
    fn each_kind_is_read_as_it_was_written() {
        let id = Id::from_u64((1 << 44) - 1).unwrap();
        let created = Location::caller();
        let kinds = [Wait::Timer(1 << 60), Wait::Readable(0), Wait::Writable(7), Wait::Task(id), Wait::AnyOf(3)];
        let sync = RESOURCES.map(|resource| Wait::Sync(SyncWait { resource, amount: MOST, created }));
        for wait in kinds.into_iter().chain(sync).chain([Wait::At(created)]) {
            assert_eq!(Wait::unpack(wait.pack().0), Some(wait));
            assert_eq!(wait.pack().0 & OTHERS, 0);
        }
        assert_eq!(Wait::unpack(0), None);
        let much = Wait::Sync(SyncWait { resource: Resource::Semaphore, amount: u32::MAX, created });
        assert_eq!(Wait::unpack(much.pack().0), Some(sync[0]));
    }

    #[test]
    fn an_address_that_does_not_fit_is_not_noted() {
        for address in [1, 4, 1 << WAIT_BITS, u64::MAX - 7] {
            assert_eq!(Wait::unpack(pack_address(address)), None);
        }
        assert_eq!(pack_address(WAIT - 7), WAIT - 7);
    }

    #[test]
    fn all_futures_of_the_last_poll_are_noted_once() {
        let fds = [3, 4, 5].map(Wait::Readable);
        assert_eq!(after(&[]), (vec![], false));
        assert_eq!(after(&fds), (fds.to_vec(), false));
        assert_eq!(after(&[fds[0], fds[1], fds[0], fds[1], fds[2]]), (fds.to_vec(), false));
        let (note, further) = (Note::scheduled(), Further::new());
        note.clear();
        fds.iter().for_each(|fd| note.wait(fd.pack(), &further));
        note.clear();
        assert_eq!(waits(&note, &further), (vec![], false), "these were of an earlier poll");
        note.wait(fds[2].pack(), &further);
        assert_eq!(waits(&note, &further), (vec![fds[2]], false));
        note.wait(fds[0].pack(), &further);
        assert_eq!(waits(&note, &further), (vec![fds[2], fds[0]], false));
    }

    #[test]
    fn a_timer_that_is_set_anew_is_noted_once() {
        let fd = Wait::Readable(3);
        let timers = [1_u64, 2, 3].map(|at| Wait::Timer(at << TIMER_UNIT));
        assert_eq!(after(&[timers[0], fd, timers[1], timers[2]]), (vec![timers[2], fd], false));
        assert_eq!(after(&[fd, timers[0], timers[1], timers[2]]), (vec![fd, timers[2]], false));
    }

    #[test]
    fn too_many_futures_are_told_as_more() {
        let fds: Vec<Wait> = (0..20).map(Wait::Readable).collect();
        assert_eq!(after(&fds), (fds[..WORDS].to_vec(), true));
        assert_eq!(after(&fds[..=WORDS]), (fds[..=WORDS].to_vec(), false));
    }

    #[test]
    fn a_closure_may_wait_for_days() {
        let note = Note::scheduled();
        assert_eq!(note.read().queued_at(), None);
        for now in [0, 1 << 38, 1 << 50] {
            note.queue(now);
            assert!(note.read().is_scheduled());
            assert!(note.read().queued_at().unwrap().abs_diff(now) <= 1 << TIMER_UNIT);
        }
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
