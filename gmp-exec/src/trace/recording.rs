//! A recording under way: the rings of all threads that write one of their own, and one for the
//! other threads.

use std::panic::Location;

use super::clock::{Clock, Scale};
use super::event::{Event, Kind};
use super::names::Names;
use super::ring::{Copied, EVENT_SIZE, Ring, RingWriter};
use crate::sync::{Arc, Mutex};

/// Rings that are kept. Those without a writer go first.
const MOST_RINGS: usize = 256;

#[derive(Debug)]
pub(crate) struct Recording {
    clock: Clock,
    /// Of a ring, in events.
    capacity: usize,
    rings: Mutex<Vec<OwnedRing>>,
    others: Mutex<RingWriter>,
    /// That of `others`, which is copied without the lock.
    others_ring: Arc<Ring>,
    places: Names<Location<'static>>,
    names: Names<str>,
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
    ring: Arc<Ring>,
    has_writer: bool,
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
    pub(super) owned: Vec<(Owner, Copied)>,
    pub(super) others: Copied,
    pub(super) scale: Scale,
}

impl Recording {
    /// `size`: bytes per thread.
    pub(super) fn new(size: usize) -> Arc<Recording> {
        let capacity = size / EVENT_SIZE;
        let others = RingWriter::new(capacity);
        Arc::new(Recording {
            clock: Clock::new(),
            capacity,
            rings: Mutex::new(Vec::new()),
            others_ring: others.ring().clone(),
            others: Mutex::new(others),
            places: Names::new(),
            names: Names::new(),
        })
    }

    /// The calling thread records from now on, until the writer is dropped. An owner goes on with
    /// the ring that it had: each `block_on` of a current-thread runtime is the machine 0.
    pub(super) fn join(self: &Arc<Self>, owner: Owner) -> Writer {
        let mut rings = self.rings.lock();
        let known = rings.iter_mut().find(|known| known.owner == owner && !known.has_writer);
        let ring = match known {
            Some(known) => {
                known.has_writer = true;
                RingWriter::go_on(&known.ring)
            }
            None => {
                make_room(&mut rings);
                let ring = RingWriter::new(self.capacity);
                rings.push(OwnedRing { owner, ring: ring.ring().clone(), has_writer: true });
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

    pub(super) fn place_of(&self, number: u16) -> Option<&'static Location<'static>> {
        self.places.get(number)
    }

    pub(super) fn name_of(&self, number: u16) -> Option<&'static str> {
        self.names.get(number)
    }

    /// Copies everything. No thread is stopped.
    pub(super) fn copy(&self) -> Copies {
        let rings = self.rings.lock().clone();
        let owned = rings.into_iter().map(|known| (known.owner, known.ring.copy())).collect();
        Copies { owned, others: self.others_ring.copy(), scale: self.clock.scale() }
    }
}

fn make_room(rings: &mut Vec<OwnedRing>) {
    if rings.len() >= MOST_RINGS {
        if let Some(index) = rings.iter().position(|known| !known.has_writer) {
            rings.remove(index);
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
        let known = rings.iter_mut().find(|known| Arc::ptr_eq(&known.ring, self.ring.ring()));
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
        let recording = Recording::new(EVENT_SIZE);
        let _alive = recording.join(Owner::Machine(0));
        (1..MOST_RINGS + 10).for_each(|machine| drop(recording.join(Owner::Machine(machine))));
        let copies = recording.copy();
        assert_eq!(copies.owned.len(), MOST_RINGS);
        assert_eq!(copies.owned[0].0, Owner::Machine(0), "its writer is alive");
        assert_eq!(copies.owned[1].0, Owner::Machine(11));
    }

    #[test]
    fn an_owner_goes_on_with_its_ring() {
        let recording = Recording::new(EVENT_SIZE);
        for subject in 0..3 {
            recording.join(Owner::Machine(7)).record_at(0, Kind::Mark, subject, 0);
        }
        let copies = recording.copy();
        assert_eq!(copies.owned.len(), 1);
        assert_eq!(copies.owned[0].1.events.len(), 3);
    }
}
