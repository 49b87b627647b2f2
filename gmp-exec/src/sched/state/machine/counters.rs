//! The counters of a machine.

use crate::metrics::Counter;

/// Tasks that a machine has spawned, and futures that were dropped on it. Only the machine's thread
/// writes them.
#[derive(Debug, Default)]
pub(crate) struct TaskCounters {
    pub(crate) spawned: Counter,
    pub(crate) finished: Counter,
}

impl TaskCounters {
    /// Reads `finished` first: a task that is counted there is already counted as spawned.
    pub(crate) fn read(&self) -> (u64, u64) {
        let finished = self.finished.get();
        (self.spawned.get(), finished)
    }

    pub(in crate::sched) fn absorb(&self, other: &TaskCounters) {
        let (spawned, finished) = other.read();
        self.spawned.add(spawned);
        self.finished.add(finished);
    }
}
