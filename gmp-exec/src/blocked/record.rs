//! The records of a stuck poll: when it is found, and when it is over.

use std::panic::Location;
use std::time::Instant;

use super::BlockedCause;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::task::Id;

/// A poll that holds its thread.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) machine: Arc<Machine>,
    /// The number of the poll among the machine's.
    pub(crate) turn: u64,
    pub(crate) task: Id,
    pub(crate) name: Option<Box<str>>,
    /// Where the task was spawned.
    pub(crate) location: &'static Location<'static>,
    /// It is the future given to `block_on`, and no task.
    pub(crate) is_root: bool,
    pub(crate) cause: BlockedCause,
    /// When the poll was seen first.
    pub(crate) since: Instant,
}

/// The end of a poll.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// The address of the machine.
    pub(super) machine: usize,
    pub(super) turn: u64,
    pub(super) at: Instant,
}

#[derive(Debug)]
pub(crate) enum Record {
    /// The poll is stuck.
    Begun(Begun),
    /// A poll that may have been recorded is over.
    Ended(Ended),
    /// A poll that was not recorded when it began is over, and was long.
    Whole(Begun, Instant),
}

impl Begun {
    /// Names the machine among those of the records that are kept.
    pub(super) fn address(&self) -> usize {
        Arc::as_ptr(&self.machine).addr()
    }

    /// Whether the machine is still in this poll, and outside of scheduler code.
    pub(super) fn is_under_way(&self) -> bool {
        self.machine.ownership.is_in_turn(self.turn)
    }

    /// Whether the machine is in a later poll. It may also be in none.
    pub(super) fn is_followed(&self) -> bool {
        self.machine.ownership.turn() != self.turn
    }
}

impl Ended {
    /// The end of a turn of this machine, now.
    pub(crate) fn now(machine: &Arc<Machine>, turn: u64) -> Ended {
        Ended { machine: Arc::as_ptr(machine).addr(), turn, at: Instant::now() }
    }
}

impl Record {
    /// Without this record a poll is missing in the report. That a poll is over is also found in
    /// other ways.
    pub(super) fn is_counted(&self) -> bool {
        !matches!(self, Record::Ended(_))
    }
}
