//! The results of changes to `Idle`. The caller must act on each.

use crate::sched::state::idle::Driver;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::Arc;

/// How to get the chosen machine running.
#[must_use]
pub(crate) enum Wake {
    /// Nothing to do: a machine spins, or no processor is idle, or no machine may be added.
    None,
    /// Unpark this machine. It has its assignment.
    Spare(Arc<Machine>),
    /// Interrupt the sleeper. It has its assignment.
    Sleeper(Arc<Machine>),
    /// Start a thread. The machine is counted already.
    Start { id: usize, token: ProcessorToken, spinning: bool },
}

/// How a machine that found no work becomes idle.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Role {
    /// Sleep in the netpoll.
    Sleeper,
    /// Park.
    Spare,
    /// Exit: the runtime is shutting down. The processor has been put on the list.
    Exit,
}

/// The result for a listed machine that should not sleep after all.
#[must_use]
pub(crate) enum Rejoin {
    /// The machine is off the list and gets a processor.
    Run(ProcessorToken),
    /// The machine is off the list: a waker has assigned it something.
    Assigned,
    /// Every processor has a machine. This machine is still on a list.
    NoProcessor,
}

pub(crate) struct Closed {
    pub(crate) machines: Vec<Arc<Machine>>,
    pub(crate) processors: Vec<ProcessorToken>,
    /// To be dropped: it keeps the runtime alive.
    pub(crate) driver: Option<Driver>,
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
    /// Whether no machine is idle and none may be added.
    pub(crate) fn is_exhausted(self) -> bool {
        self.spares == 0 && self.machines >= self.most_machines
    }
}
