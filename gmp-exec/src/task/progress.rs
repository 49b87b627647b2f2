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
//! | waker, in `schedule` | stage = scheduled; perhaps a stamp |
//! | machine, at the beginning of a poll | stage = running; polls + 1; takes the stamp |
//! | machine, at the end of a poll that waits | stage = waiting |
//!
//! A task that has ended keeps "running". The registry does not list it then.

use std::time::Duration;

use super::moment::Moment;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicU32};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    Waiting = 0,
    Scheduled = 1,
    Running = 2,
}

#[derive(Debug)]
pub(crate) struct Progress {
    stage: AtomicU8,
    polls: AtomicU32,
    /// When the task has waited for the first time, in [`Moment`]s. 0: it has not.
    waited: AtomicU32,
    /// When the task was scheduled, if that is measured: a [`Stamp`], or 0.
    stamp: AtomicU32,
}

/// What the dump reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) stage: Stage,
    pub(crate) polls: u32,
}

impl Progress {
    #[inline]
    pub(crate) fn new() -> Progress {
        let stage = AtomicU8::new(Stage::Scheduled as u8);
        Progress { stage, polls: AtomicU32::new(0), waited: AtomicU32::new(0), stamp: AtomicU32::new(0) }
    }

    #[inline]
    pub(crate) fn schedule(&self) {
        self.stage.store(Stage::Scheduled as u8, Release);
    }

    /// The task is scheduled, `now` nanoseconds after some moment of its scheduler.
    pub(crate) fn stamp(&self, now: u64) {
        self.stamp.store(Stamp::of(now).0, Relaxed);
    }

    pub(crate) fn take_stamp(&self) -> Option<Stamp> {
        let stamp = self.stamp.load(Relaxed);
        if stamp == 0 {
            return None;
        }
        self.stamp.store(0, Relaxed);
        Some(Stamp(stamp))
    }

    #[inline]
    pub(crate) fn begin_poll(&self) {
        self.stage.store(Stage::Running as u8, Release);
        self.polls.store(self.polls.load(Relaxed).wrapping_add(1), Release);
    }

    #[inline]
    pub(crate) fn wait(&self) {
        self.stage.store(Stage::Waiting as u8, Release);
    }

    /// The task is about to wait for the first time. Called under the lock of the registry shard.
    pub(super) fn note_first_wait(&self) {
        self.waited.store(Moment::now().0.max(1), Relaxed);
    }

    pub(crate) fn read(&self) -> Reading {
        let stage = match self.stage.load(Acquire) {
            0 => Stage::Waiting,
            1 => Stage::Scheduled,
            _ => Stage::Running,
        };
        Reading { stage, polls: self.polls.load(Acquire) }
    }

    /// The number of the poll since whose end the task waits; `None` if it does not wait. Without the
    /// first look at the number, it may be that of a later poll than the stage.
    pub(crate) fn waits_since(&self) -> Option<u32> {
        let before = self.polls.load(Acquire);
        let Reading { stage, polls } = self.read();
        (stage == Stage::Waiting && polls == before).then_some(polls)
    }

    /// How long ago the task has waited for the first time. Called under the lock of the registry
    /// shard that lists the task.
    pub(crate) fn waited_ago(&self, now: Moment) -> Option<Duration> {
        let waited = self.waited.load(Relaxed);
        (waited != 0).then(|| now.since(Moment(waited)))
    }
}

/// A moment in units of 64 ns, never 0. It wraps round after 4.6 minutes: no task waits for so long
/// to be polled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u32);

/// Nanoseconds of a unit, as a power of two.
const UNIT: u32 = 6;

impl Stamp {
    fn of(now: u64) -> Stamp {
        Stamp(((now >> UNIT) as u32).max(1))
    }

    /// In nanoseconds, exact to a unit.
    pub(crate) fn age(self, now: u64) -> u64 {
        let units = ((now >> UNIT) as u32).wrapping_sub(self.0);
        // The moment 0 was written as 1.
        if units == u32::MAX { 0 } else { u64::from(units) << UNIT }
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
    fn a_stamp_is_taken_once_and_knows_its_age_across_the_wrap() {
        let progress = Progress::new();
        assert!(progress.take_stamp().is_none());
        for now in [0, 63, 64, 1_000_000, (1 << 38) - 64, 1 << 38, 5 << 38] {
            progress.stamp(now);
            let stamp = progress.take_stamp().unwrap();
            assert!(progress.take_stamp().is_none());
            assert_eq!(stamp.age(now), 0, "{now}");
            let age = stamp.age(now + 10_000_000);
            assert!(age.abs_diff(10_000_000) <= 128, "{age} at {now}");
        }
    }

    #[test]
    fn the_count_of_polls_wraps_round_and_the_stage_stays_right() {
        let progress = Progress::new();
        progress.polls.store(u32::MAX, Relaxed);
        progress.begin_poll();
        assert_eq!(progress.read(), Reading { stage: Stage::Running, polls: 0 });
    }
}
