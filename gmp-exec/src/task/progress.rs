//! Whether a task waits, is scheduled or runs, and how often it was polled: read by the dump
//! (`dump`), which neither stops nor polls a task.
//!
//! async-task has a state word of its own, which it keeps to itself. This one is written with plain
//! stores, because a single thread at a time may write it: the one that has the task's
//! [`Runnable`](super::Runnable). A waker has the `Runnable` when async-task calls `schedule`, the
//! machine has it during the poll, and async-task orders the former before the latter.
//!
//! | thread with the `Runnable` | writes |
//! |---|---|
//! | waker, in `schedule` | stage = scheduled |
//! | machine, at the beginning of a poll | stage = running; polls + 1 |
//! | machine, at the end of a poll that waits | stage = waiting |
//!
//! A task that has ended keeps "running". The registry does not list it then.

use std::time::Duration;

use super::moment::Moment;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Stage {
    Waiting = 0,
    Scheduled = 1,
    Running = 2,
}

#[derive(Debug)]
pub(crate) struct Progress {
    /// The stage in the lowest bits, the number of polls in the others.
    state: AtomicU32,
    /// When the task has waited for the first time, in [`Moment`]s. 0: it has not.
    waited: AtomicU32,
}

const STAGE_BITS: u32 = 2;
const STAGE: u32 = (1 << STAGE_BITS) - 1;

/// What the dump reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) stage: Stage,
    /// Modulo 2^30.
    pub(crate) polls: u32,
}

impl Progress {
    #[inline]
    pub(crate) fn new() -> Progress {
        Progress { state: AtomicU32::new(Stage::Scheduled as u32), waited: AtomicU32::new(0) }
    }

    #[inline]
    pub(crate) fn schedule(&self) {
        self.enter(Stage::Scheduled);
    }

    #[inline]
    pub(crate) fn begin_poll(&self) {
        let polls = (self.state.load(Relaxed) | STAGE).wrapping_add(1);
        self.state.store(polls | Stage::Running as u32, Release);
    }

    #[inline]
    pub(crate) fn wait(&self) {
        self.enter(Stage::Waiting);
    }

    #[inline]
    fn enter(&self, stage: Stage) {
        self.state.store(self.state.load(Relaxed) & !STAGE | stage as u32, Release);
    }

    /// The number of the poll under way, for the thread that polls the task.
    #[inline]
    pub(super) fn polls(&self) -> u32 {
        self.state.load(Relaxed) >> STAGE_BITS
    }

    /// The task is about to wait for the first time. Called under the lock of the registry shard.
    pub(super) fn note_first_wait(&self) {
        self.waited.store(Moment::now().0.max(1), Relaxed);
    }

    pub(crate) fn read(&self) -> Reading {
        let state = self.state.load(Acquire);
        let stage = match state & STAGE {
            0 => Stage::Waiting,
            1 => Stage::Scheduled,
            _ => Stage::Running,
        };
        Reading { stage, polls: state >> STAGE_BITS }
    }

    /// The number of the poll since whose end the task waits; `None` if it does not wait.
    pub(crate) fn waits_since(&self) -> Option<u32> {
        let Reading { stage, polls } = self.read();
        (stage == Stage::Waiting).then_some(polls)
    }

    /// How long ago the task has waited for the first time. Called under the lock of the registry
    /// shard that lists the task.
    pub(crate) fn waited_ago(&self, now: Moment) -> Option<Duration> {
        let waited = self.waited.load(Relaxed);
        (waited != 0).then(|| now.since(Moment(waited)))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_poll_is_counted_from_any_stage() {
        let progress = Progress::new();
        assert_eq!(progress.read(), Reading { stage: Stage::Scheduled, polls: 0 });
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 1 });
        progress.wait();
        assert_eq!(progress.read(), Reading { stage: Stage::Waiting, polls: 1 });
        // A task that is cancelled while it waits is run without being scheduled.
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 2 });
        progress.wait();
        progress.schedule();
        assert_eq!(progress.read(), Reading { stage: Stage::Scheduled, polls: 2 });
        progress.schedule();
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 3 });
    }

    #[test]
    fn the_count_of_polls_wraps_round_and_the_stage_stays_right() {
        let progress = Progress::new();
        progress.state.store(!STAGE, Relaxed);
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 0 });
    }
}
