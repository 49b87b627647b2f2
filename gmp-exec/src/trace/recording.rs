//! A recording under way: the rings of all threads that write one of their own, and one for the
//! other threads.

use std::panic::Location;
use std::sync::mpsc::Sender;
use std::time::{SystemTime, UNIX_EPOCH};

use super::clock::{Clock, Reading, Scale};
use super::event::{Event, Kind};
use super::names::Names;
use super::request::Request;
use super::ring::{Copied, EVENT_SIZE, Ring, RingWriter};
use super::sights::Sights;
use crate::blocked::Sight;
use crate::sync::{Arc, Mutex};

/// Rings that are kept. Those without a writer go first.
const MOST_RINGS: usize = 256;

#[derive(Debug)]
pub(crate) struct Recording {
    clock: Clock,
    /// When it has started, in nanoseconds of Unix time.
    pub(super) started: u64,
    /// Of a ring, in events.
    capacity: usize,
    rings: Mutex<Rings>,
    others: Mutex<RingWriter>,
    /// That of `others`, which is copied without the lock.
    others_ring: Arc<Ring>,
    places: Names<Location<'static>>,
    names: Names<str>,
    sights: Sights,
    /// Is called when a half of a ring is full.
    reader: Option<Sender<Request>>,
}

#[derive(Debug, Default)]
struct Rings {
    owned: Vec<OwnedRing>,
    /// How many events of `others` were read by [`Recording::take_new`].
    others_read: u64,
    /// Events that it has not read, of rings that are gone.
    missed: u64,
    /// When the latest of these rings went, in ticks.
    gone_at: u64,
}

/// Whose events a ring has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    Machine(usize),
    /// A thread that waits in `block_on` of a multi-thread runtime.
    BlockOn,
    /// A thread that runs blocking closures of a current-thread runtime.
    Closures,
}

#[derive(Clone, Debug)]
struct OwnedRing {
    owner: Owner,
    /// Among those with the same owner, from 1.
    number: usize,
    ring: Arc<Ring>,
    has_writer: bool,
    /// How many events [`Recording::take_new`] has read.
    read: u64,
}

/// A thread's access to its ring.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) recording: Arc<Recording>,
    clock: Clock,
    ring: RingWriter,
}

/// What a snapshot copies.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) rings: Vec<Copy>,
    /// Events of rings that are gone, and when the latest of them went, in ticks.
    pub(super) gone: (u64, u64),
    pub(super) scale: Scale,
}

/// The events of a ring.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) source: Source,
    pub(super) copied: Copied,
    /// More may come.
    pub(super) has_writer: bool,
}

/// Which ring: whose, and a number among those with the same owner. `None`: that of all threads
/// that have no ring of their own.
pub(super) type Source = (Option<Owner>, usize);

impl Recording {
    /// `size`: bytes per thread. `reader` is called when a half of a ring is full.
    pub(super) fn new(size: usize, reader: Option<Sender<Request>>) -> Arc<Recording> {
        let capacity = size / EVENT_SIZE;
        let others = RingWriter::new(capacity, reader.clone());
        Arc::new(Recording {
            clock: Clock::new(),
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64),
            capacity,
            rings: Mutex::default(),
            others_ring: others.ring().clone(),
            others: Mutex::new(others),
            places: Names::new(),
            names: Names::new(),
            sights: Sights::default(),
            reader,
        })
    }

    /// The calling thread records from now on, until the writer is dropped. An owner goes on with
    /// the ring that it had: each `block_on` of a current-thread runtime is the machine 0.
    pub(super) fn join(self: &Arc<Self>, owner: Owner) -> Writer {
        let mut rings = self.rings.lock();
        let of_owner = |known: &&mut OwnedRing| known.owner == owner;
        let known = rings.owned.iter_mut().filter(of_owner).find(|known| !known.has_writer);
        let ring = match known {
            Some(known) => {
                known.has_writer = true;
                RingWriter::go_on(&known.ring)
            }
            None => {
                make_room(&mut rings, self.clock);
                let number = 1 + rings.owned.iter_mut().filter(of_owner).map(|known| known.number).max().unwrap_or(0);
                let ring = RingWriter::new(self.capacity, self.reader.clone());
                rings.owned.push(OwnedRing { owner, number, ring: ring.ring().clone(), has_writer: true, read: 0 });
                ring
            }
        };
        Writer { recording: self.clone(), clock: self.clock, ring }
    }

    /// For a thread that writes no ring of its own.
    pub(crate) fn record_outside(&self, kind: Kind, subject: u64, small: u16) {
        let mut others = self.others.lock();
        others.push(Event { kind, ticks: self.clock.ticks(), subject, small }.pack());
    }

    #[inline]
    pub(crate) fn place(&self, location: &'static Location<'static>) -> u16 {
        self.places.number(location)
    }

    pub(crate) fn name(&self, name: &'static str) -> u16 {
        self.names.number(name)
    }

    /// The number of what was seen of the thread of a stuck poll.
    pub(crate) fn sight(&self, sight: Sight) -> u16 {
        self.sights.number(sight)
    }

    pub(super) fn sight_of(&self, number: u16) -> Option<Sight> {
        self.sights.get(number)
    }

    pub(super) fn place_of(&self, number: u16) -> Option<&'static Location<'static>> {
        self.places.get(number)
    }

    pub(super) fn name_of(&self, number: u16) -> Option<&'static str> {
        self.names.get(number)
    }

    /// Copies everything until the moment of the call. No thread is stopped, so the rings are
    /// copied one after the other, and may have later events. The caller drops those that are later
    /// than the scale's end.
    pub(super) fn copy(&self) -> Copies {
        let scale = self.clock.scale();
        let rings = self.rings.lock();
        let (owned, gone) = (rings.owned.clone(), (rings.missed, rings.gone_at));
        drop(rings);
        let mut rings: Vec<Copy> = owned.iter().map(|known| known.copy(0)).collect();
        rings.push(self.copy_others(0));
        Copies { rings, gone, scale }
    }

    /// Copies what was recorded since the last call, and says how many events of rings that are
    /// gone were missed. One thread calls this. No other is stopped: it may record meanwhile.
    pub(super) fn take_new(&self) -> (Vec<Copy>, u64) {
        let mut rings = self.rings.lock();
        let (mut owned, others_read) = (rings.owned.clone(), rings.others_read);
        let missed = std::mem::take(&mut rings.missed);
        drop(rings);
        let mut copies: Vec<Copy> = owned.iter().map(|known| known.copy(known.read)).collect();
        let others = self.copy_others(others_read);
        for (known, copy) in owned.iter_mut().zip(&copies) {
            known.read = copy.copied.end;
        }
        let mut rings = self.rings.lock();
        rings.others_read = others.copied.end;
        for known in &mut rings.owned {
            if let Some(read) = owned.iter().find(|read| Arc::ptr_eq(&read.ring, &known.ring)) {
                known.read = read.read;
            }
        }
        copies.push(others);
        (copies, missed)
    }

    fn copy_others(&self, from: u64) -> Copy {
        Copy { source: (None, 1), copied: self.others_ring.copy(from), has_writer: true }
    }

    pub(super) fn reading(&self) -> Reading {
        self.clock.reading()
    }
}

impl OwnedRing {
    fn copy(&self, from: u64) -> Copy {
        Copy { source: (Some(self.owner), self.number), copied: self.ring.copy(from), has_writer: self.has_writer }
    }
}

fn make_room(rings: &mut Rings, clock: Clock) {
    if rings.owned.len() >= MOST_RINGS {
        if let Some(index) = rings.owned.iter().position(|known| !known.has_writer) {
            let gone = rings.owned.remove(index);
            rings.missed += gone.ring.written() - gone.read;
            rings.gone_at = clock.ticks();
        }
    }
}

impl Writer {
    #[inline]
    pub(super) fn ticks(&self) -> u64 {
        self.clock.ticks()
    }

    #[inline]
    pub(super) fn record_at(&mut self, ticks: u64, kind: Kind, subject: u64, small: u16) {
        self.ring.push(Event { kind, ticks, subject, small }.pack());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut rings = self.recording.rings.lock();
        let known = rings.owned.iter_mut().find(|known| Arc::ptr_eq(&known.ring, self.ring.ring()));
        if let Some(known) = known {
            known.has_writer = false;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn rings_without_a_writer_go_first() {
        let recording = Recording::new(EVENT_SIZE, None);
        let _alive = recording.join(Owner::Machine(0));
        (1..MOST_RINGS + 10).for_each(|machine| recording.join(Owner::Machine(machine)).record_at(0, Kind::Mark, 0, 0));
        let copies = recording.copy();
        assert!(copies.gone.0 == 10 && copies.gone.1 > 0, "{:?}", copies.gone);
        let owners: Vec<_> = copies.rings.into_iter().map(|copy| copy.source.0).collect();
        assert_eq!(owners.len(), MOST_RINGS + 1);
        assert_eq!(owners[0], Some(Owner::Machine(0)), "its writer is alive");
        assert_eq!((owners[1], owners[MOST_RINGS]), (Some(Owner::Machine(11)), None));
    }

    #[test]
    fn what_is_new_comes_once_and_what_was_missed_is_counted() {
        let recording = Recording::new(EVENT_SIZE, None);
        let mut alive = recording.join(Owner::BlockOn);
        let events = |taken: &(Vec<Copy>, u64)| taken.0.iter().map(|copy| copy.copied.events.len()).collect::<Vec<_>>();
        alive.record_at(0, Kind::Mark, 1, 0);
        recording.record_outside(Kind::Mark, 2, 0);
        assert_eq!(events(&recording.take_new()), [1, 1]);
        alive.record_at(0, Kind::Mark, 3, 0);
        drop(alive);
        let taken = recording.take_new();
        assert_eq!((events(&taken), taken.0[0].has_writer), (vec![1, 0], false));
        for machine in 0..MOST_RINGS {
            recording.join(Owner::Machine(machine)).record_at(0, Kind::Mark, 0, 0);
        }
        let taken = recording.take_new();
        assert_eq!((events(&taken), taken.1), ([[1; MOST_RINGS].as_slice(), &[0]].concat(), 0), "the oldest was read");
        for machine in 0..2 * MOST_RINGS {
            recording.join(Owner::Machine(MOST_RINGS + machine)).record_at(0, Kind::Mark, 0, 0);
        }
        assert_eq!(recording.take_new().1, MOST_RINGS as u64);
    }

    #[test]
    fn rings_of_one_owner_are_numbered() {
        let recording = Recording::new(EVENT_SIZE, None);
        let writers = [Owner::BlockOn, Owner::Closures, Owner::BlockOn].map(|owner| recording.join(owner));
        let sources: Vec<_> = recording.copy().rings.into_iter().map(|copy| copy.source).collect();
        let expected = [(Some(Owner::BlockOn), 1), (Some(Owner::Closures), 1), (Some(Owner::BlockOn), 2), (None, 1)];
        assert_eq!(sources, expected);
        drop(writers);
    }

    #[test]
    fn an_owner_goes_on_with_its_ring() {
        let recording = Recording::new(EVENT_SIZE, None);
        for subject in 0..3 {
            recording.join(Owner::Machine(7)).record_at(0, Kind::Mark, subject, 0);
        }
        let copies = recording.copy();
        assert_eq!(copies.rings.len(), 2);
        assert_eq!(copies.rings[0].copied.events.len(), 3);
    }
}
