//! How long sysmon sleeps, and how it lets other threads end its sleep.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::sysmon::budget::SHORTEST;
use crate::sched::sysmon::memory::Memory;
use crate::sched::sysmon::pace::{self, Facts};
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;

/// After this many looks between which no processor had a turn, sysmon sleeps until a machine wakes
/// it. So a program that pauses often does not pay a wake-up per pause.
pub(super) const IDLE_LOOKS: u32 = 3;

impl Scheduler {
    /// Sleeps for `limit` (`None`: until a call). Returns the reasons of the calls.
    pub(super) fn sleep(&self, memory: &mut Memory, limit: Option<Duration>) -> u8 {
        let sysmon = &self.sysmon;
        let at = limit.map_or(u64::MAX, |limit| (sysmon.epoch.elapsed() + limit).as_nanos() as u64);
        sysmon.next_look.store(at, Release);
        sysmon.is_slow.store(limit.is_some_and(|limit| limit > self.regular_pace()), Relaxed);
        let limit = self.listen(memory, self.until_announced(limit));
        let reasons = sysmon.calls.wait(limit);
        sysmon.listening.store(false, Relaxed);
        sysmon.asleep.store(false, Relaxed);
        reasons
    }

    /// Lets submitters call, if there is budget left. No submitter has called for work that was
    /// published before, so sysmon looks for that itself, as if one had.
    pub(super) fn listen(&self, memory: &mut Memory, limit: Option<Duration>) -> Option<Duration> {
        if !self.config.sysmon || limit.is_none() || !memory.budget.is_left() {
            return limit;
        }
        self.sysmon.listening.store(true, Relaxed);
        fence(SeqCst);
        if memory.is_anything_waiting || !self.is_anything_waiting() {
            return limit;
        }
        memory.calls_itself = true;
        limit.map(|limit| limit.min(SHORTEST))
    }

    /// How long to sleep; `None`: until a processor becomes busy.
    pub(super) fn next_sleep(&self, memory: &mut Memory, now: Instant) -> Option<Duration> {
        let until_timer = self.until_unserved_timer(memory, now);
        let pace = self.pace(memory, now);
        memory.calls_itself = until_timer < pace;
        let pace = pace.min(until_timer);
        if self.idle.any_busy() {
            memory.idle_looks = 0;
            return Some(pace);
        }
        memory.idle_looks = if memory.have_turns_passed(&self.processors) { 0 } else { memory.idle_looks + 1 };
        if memory.idle_looks < IDLE_LOOKS || self.has_visible_work() || self.is_unattended() {
            return Some(pace);
        }
        self.sysmon.asleep.store(true, Relaxed);
        fence(SeqCst);
        // Busy processors first: a machine holds a processor until its hog waits for a permit, so
        // one of the two checks sees it.
        if self.idle.any_busy() || self.hogs.waiting() > 0 {
            self.sysmon.asleep.store(false, Relaxed);
            return Some(pace);
        }
        memory.forget();
        memory.idle_looks = 0;
        None
    }

    /// How soon to look because of what was seen.
    pub(super) fn pace(&self, memory: &Memory, now: Instant) -> Duration {
        let are_all_held = memory.is_anything_waiting && memory.count_held(Duration::ZERO) >= self.idle.unretired();
        pace::pace(Facts {
            threshold: self.config.blocking_threshold,
            step: memory.budget.step(),
            has_new_section: memory.has_new_section(now),
            is_close: memory.long_polls.are_likely(now),
            slow: memory.slow_pace,
            all_held: are_all_held.then(|| memory.shortest_held()),
        })
    }

    /// When a timer comes due that perhaps no machine serves: every processor is busy, and its poll
    /// is known to sleep, or is likely to. A timer that is due already waits as any other work
    /// does.
    pub(super) fn until_unserved_timer(&self, memory: &Memory, now: Instant) -> Duration {
        let may_sleep = memory.budget.is_left() && (memory.long_polls.are_likely(now) || self.takeable.is_any());
        if !may_sleep || !self.idle.are_all_busy() || self.idle.has_sleeper() {
            return Duration::MAX;
        }
        match self.earliest_timer().checked_sub(self.clock.now_ns()) {
            None | Some(0) => Duration::MAX,
            Some(until) => Duration::from_nanos(until).max(SHORTEST),
        }
    }

    /// How soon to look while a processor is busy and nothing was seen.
    pub(super) fn regular_pace(&self) -> Duration {
        pace::regular(self.config.blocking_threshold)
    }

    /// `look_soon` may have come between the store of `next_look` and the sleep. Its call is kept,
    /// so this only makes sure that sysmon does not sleep longer than `next_look` says.
    pub(super) fn until_announced(&self, next: Option<Duration>) -> Option<Duration> {
        let at = self.sysmon.next_look.load(Acquire);
        if at == u64::MAX {
            return next;
        }
        Some(Duration::from_nanos(at).saturating_sub(self.sysmon.epoch.elapsed()))
    }

    /// Lets looks become rarer while a processor is idle, nothing waits for long and no poll lasts.
    pub(super) fn slow_down(&self, memory: &mut Memory) {
        let is_quiet = self.idle.has_idle() && !memory.is_any_stuck() && self.hogs.waiting() == 0;
        let threshold = self.config.blocking_threshold;
        memory.slow_pace = if is_quiet { pace::slower(memory.slow_pace, threshold) } else { Duration::ZERO };
    }
}
