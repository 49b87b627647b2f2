//! Whether a task waits, is scheduled or runs, and how often it was polled: read by the dump
//! (`dump`), which neither stops nor polls a task.
//!
//! async-task has a state word of its own, which it keeps to itself. This one is written with plain
//! stores, because a single thread at a time may write it: the one that has the task's
//! [`Runnable`](super::Runnable). A waker has the `Runnable` when async-task calls `schedule`, the
//! machine has it during the poll, and async-task orders the former before the latter.
//!
//! | thread with the `Runnable` | state | the word |
//! |---|---|---|
//! | waker, in `schedule` | scheduled | lower two bits = 1 |
//! | machine, at the beginning of a poll | running | lower two bits = 2, the count of polls + 1 |
//! | machine, at the end of a poll that waits | waiting | lower two bits = 0 |
//!
//! A task that has ended keeps "running". The registry does not list it then.

use std::time::Duration;

use super::moment::Moment;
use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::*;

/// The lower two bits of the word.
const WAITING: u32 = 0;
const SCHEDULED: u32 = 1;
const RUNNING: u32 = 2;
const STATE: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    Scheduled,
    Running,
}

#[derive(Debug)]
pub(crate) struct Progress {
    word: AtomicU32,
    /// When the task has waited for the first time, in [`Moment`]s.
    waited: AtomicU32,
}

/// What the dump reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) stage: Stage,
    /// Modulo 2^30.
    pub(crate) polls: u32,
}

impl Progress {
    #[inline]
    pub(super) fn new() -> Progress {
        Progress { word: AtomicU32::new(SCHEDULED), waited: AtomicU32::new(0) }
    }

    #[inline]
    pub(super) fn schedule(&self) {
        self.word.store(self.word.load(Relaxed) | SCHEDULED, Release);
    }

    #[inline]
    pub(super) fn begin_poll(&self) {
        // Whatever the lower bits are, this makes them 2 and carries into the count.
        self.word.store((self.word.load(Relaxed) | STATE).wrapping_add(STATE), Release);
    }

    #[inline]
    pub(super) fn wait(&self) {
        self.word.store(self.word.load(Relaxed) & !STATE, Release);
    }

    /// The task is about to wait for the first time. Called under the lock of the registry shard.
    pub(super) fn note_first_wait(&self) {
        self.waited.store(Moment::now().0, Relaxed);
    }

    pub(crate) fn read(&self) -> Reading {
        let word = self.word.load(Acquire);
        let stage = match word & STATE {
            WAITING => Stage::Waiting,
            SCHEDULED => Stage::Scheduled,
            RUNNING | STATE.. => Stage::Running,
        };
        Reading { stage, polls: word >> 2 }
    }

    /// How long ago the task has waited for the first time. Called under the lock of the registry
    /// shard that lists the task.
    pub(crate) fn waited_ago(&self, now: Moment) -> Duration {
        now.since(Moment(self.waited.load(Relaxed)))
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
        progress.word.store(!STATE | SCHEDULED, Relaxed);
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 0 });
    }
}
