//! What comes out of the changes: the caller must act on each.

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::Arc;

/// What it takes to get a processor running.
#[derive(Debug)]
#[must_use]
pub(crate) enum Wake {
    /// Nothing to do: somebody spins, or there is no idle processor, or no machine may be added.
    Nobody,
    /// Assigned; unpark it.
    Spare(Arc<Machine>),
    /// Assigned; interrupt the poller.
    Sleeper(Arc<Machine>),
    /// A thread must be started; it is counted already.
    Start { id: usize, token: ProcessorToken },
}

/// What a machine does that found no work.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Role {
    /// Sleep in the poller.
    Sleeper,
    /// Park.
    Spare,
    /// The runtime is shutting down. The processor has been put on the list.
    Exit,
}

/// What a machine that is on a list gets when it found that it should not sleep.
#[derive(Debug)]
#[must_use]
pub(crate) enum Rejoin {
    /// Off the list, with a processor.
    Run(ProcessorToken),
    /// Off the list: somebody has assigned something to it.
    Assigned,
    /// Every processor has a machine. Still on the list.
    NoProcessor,
}

/// A machine set aside by [`Idle::reserve`].
#[derive(Debug)]
#[must_use]
pub(crate) enum Reserved {
    Spare(Arc<Machine>),
    Start { id: usize },
}

pub(crate) struct Closed {
    pub(crate) machines: Vec<Arc<Machine>>,
    pub(crate) processors: Vec<ProcessorToken>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Snapshot {
    pub(crate) machines: usize,
    pub(crate) spares: usize,
    pub(crate) processors: usize,
    pub(crate) spinning: usize,
    pub(crate) most_machines: usize,
}

impl Snapshot {
    /// No machine is idle and none may be added.
    pub(crate) fn is_exhausted(self) -> bool {
        self.spares == 0 && self.machines >= self.most_machines
    }
}
