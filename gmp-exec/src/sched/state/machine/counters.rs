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
    pub(in crate::sched) fn absorb(&self, other: &TaskCounters) {
        self.spawned.add(other.spawned.get());
        self.finished.add(other.finished.get());
    }
}
