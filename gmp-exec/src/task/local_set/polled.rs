//! Which task of a set is being polled, for the check for lost tasks (`lost`).
//!
//! A set may be polled inside of one of its own tasks, so the end of a poll restores the task
//! around it. Both stores release: a check that reads the value of either store sees what the
//! finished poll did before that store.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;
use crate::task::Id;

#[derive(Debug)]
pub(crate) struct PolledTask(AtomicU64);

/// The task that was polled when a poll began.
#[derive(Clone, Copy, Debug)]
#[must_use = "the poll around must be brought back"]
pub(crate) struct Around(u64);

impl PolledTask {
    pub(crate) fn new() -> PolledTask {
        PolledTask(AtomicU64::new(0))
    }

    /// The thread of the set is about to poll this task.
    pub(crate) fn begin(&self, task: Id) -> Around {
        let around = Around(self.0.load(Relaxed));
        self.0.store(task.as_u64(), Release);
        around
    }

    /// That poll is over.
    pub(crate) fn end(&self, around: Around) {
        self.0.store(around.0, Release);
    }

    pub(crate) fn get(&self) -> Option<Id> {
        Id::from_u64(self.0.load(Acquire))
    }
}
