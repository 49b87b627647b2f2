//! What scenarios need to agree on beginning and end. Nothing here is recorded.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::waiting;

/// Threads wait here for each other; those of machines inside their polls.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    members: usize,
    arrived: Tally,
}

impl Meeting {
    pub(super) fn new(members: usize) -> Meeting {
        Meeting { members, arrived: Tally::new() }
    }

    /// Waits until all members are here. The last one calls `f` before the others go on.
    pub(super) fn meet(&self, f: impl FnOnce()) {
        let arrived = self.arrived.get() + 1;
        if arrived % self.members == 0 {
            f();
        }
        self.arrived.add();
        self.arrived.wait_for(arrived.next_multiple_of(self.members));
    }
}

/// A number that grows, and that threads wait for. Only one thread of shuttle runs at a time, and
/// none of these methods takes a step in between.
#[derive(Clone, Debug)]
pub(super) struct Tally(Arc<AtomicUsize>);

impl Tally {
    pub(super) fn new() -> Tally {
        Tally(Arc::default())
    }

    /// Adds one. Returns the new number.
    pub(super) fn add(&self) -> usize {
        let before = self.0.fetch_add(1, Relaxed);
        waiting::release_all(self.address());
        before + 1
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    pub(super) fn wait_for(&self, number: usize) {
        while self.get() < number {
            waiting::wait_on(self.address());
        }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}
