//! A recording under way: the rings of all machines, and one for the other threads.

use std::panic::Location;
use std::time::Duration;

use super::clock::{Clock, Scale};
use super::event::{Event, Kind};
use super::names::Names;
use super::ring::{Copied, EVENT_SIZE, Ring};
use crate::sync::{Arc, Mutex};

/// Rings that are kept. Those of threads that have ended go first.
const MOST_RINGS: usize = 256;

#[derive(Debug)]
pub(crate) struct Recording {
    clock: Clock,
    /// Of a ring, in events.
    capacity: usize,
    machines: Mutex<Vec<MachineRing>>,
    /// Written under the lock, and copied without it.
    others: (Mutex<()>, Ring),
    places: Names<Location<'static>>,
    names: Names<str>,
}

#[derive(Clone, Debug)]
struct MachineRing {
    machine: usize,
    ring: Arc<Ring>,
}

/// A machine's access to its ring.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) recording: Arc<Recording>,
    ring: Arc<Ring>,
}

/// What a snapshot copies.
#[derive(Debug)]
pub(super) struct Copies {
    pub(super) machines: Vec<(usize, Copied)>,
    pub(super) others: Copied,
    pub(super) scale: Scale,
}

impl Recording {
    /// `size`: bytes per thread.
    pub(super) fn new(size: usize) -> Arc<Recording> {
        let capacity = size / EVENT_SIZE;
        Arc::new(Recording {
            clock: Clock::new(),
            capacity,
            machines: Mutex::new(Vec::new()),
            others: (Mutex::new(()), Ring::new(capacity)),
            places: Names::new(),
            names: Names::new(),
        })
    }

    /// The calling machine records from now on.
    pub(super) fn join(self: &Arc<Self>, machine: usize) -> Writer {
        let ring = Arc::new(Ring::new(self.capacity));
        let mut machines = self.machines.lock();
        if machines.len() >= MOST_RINGS {
            // The machines of the others have let go of theirs.
            if let Some(index) = machines.iter().position(|known| Arc::strong_count(&known.ring) == 1) {
                machines.remove(index);
            }
        }
        machines.push(MachineRing { machine, ring: ring.clone() });
        Writer { recording: self.clone(), ring }
    }

    /// For a thread that is no machine of this runtime.
    pub(crate) fn record_outside(&self, kind: Kind, subject: u64, small: u16) {
        let _turn = self.others.0.lock();
        self.others.1.push(Event { kind, ticks: self.clock.ticks(), subject, small }.pack());
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

    /// The time since a moment in ticks.
    pub(super) fn since(&self, ticks: u64) -> Duration {
        let scale = self.clock.scale();
        Duration::from_nanos(scale.elapsed().saturating_sub(scale.nanoseconds(ticks)))
    }

    /// Copies everything. No thread is stopped.
    pub(super) fn copy(&self) -> Copies {
        let machines = self.machines.lock().clone();
        let machines = machines.into_iter().map(|known| (known.machine, known.ring.copy())).collect();
        Copies { machines, others: self.others.1.copy(), scale: self.clock.scale() }
    }
}

impl Writer {
    /// Returns the moment, in ticks.
    #[inline]
    pub(super) fn record(&self, kind: Kind, subject: u64, small: u16) -> u64 {
        let ticks = self.recording.clock.ticks();
        self.ring.push(Event { kind, ticks, subject, small }.pack());
        ticks
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn rings_of_threads_that_have_ended_go_first() {
        let recording = Recording::new(EVENT_SIZE);
        let alive = recording.join(0);
        (1..MOST_RINGS + 10).for_each(|machine| drop(recording.join(machine)));
        alive.record(Kind::Mark, 7, 0);
        let copies = recording.copy();
        assert_eq!(copies.machines.len(), MOST_RINGS);
        assert_eq!(copies.machines[0].0, 0, "the machine is alive");
        assert_eq!(copies.machines[1].0, 11);
    }
}
