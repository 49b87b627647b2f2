//! How long sysmon sleeps, and how it lets other threads end its sleep.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::sysmon::budget::SHORTEST;
use crate::sched::sysmon::memory::Memory;
use crate::sched::sysmon::pace::{self, Facts};
use crate::sched::sysmon::waiting;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;

/// After this many looks between which no processor had a turn, sysmon sleeps until a machine wakes
/// it. So a program that pauses often does not pay a wake-up per pause.
pub(super) const IDLE_LOOKS: u32 = 3;

/// Sleeps for `limit` (`None`: until a call). Returns the reasons of the calls.
pub(super) fn sleep(scheduler: &Scheduler, memory: &mut Memory, limit: Option<Duration>) -> u8 {
    let sysmon = &scheduler.sysmon;
    let at = limit.map_or(u64::MAX, |limit| (sysmon.epoch.elapsed() + limit).as_nanos() as u64);
    sysmon.next_look.store(at, Release);
    sysmon.is_slow.store(limit.is_some_and(|limit| limit > regular_pace(scheduler)), Relaxed);
    let limit = listen(scheduler, memory, until_announced(scheduler, limit));
    let reasons = sysmon.calls.wait(limit);
    sysmon.listening.store(false, Relaxed);
    sysmon.asleep.store(false, Relaxed);
    reasons
}

/// Lets submitters call, if there is budget left. No submitter has called for work that was
/// published before, so sysmon looks for that itself, as if one had.
pub(super) fn listen(scheduler: &Scheduler, memory: &mut Memory, limit: Option<Duration>) -> Option<Duration> {
    if !scheduler.config.sysmon || limit.is_none() || !memory.budget.is_left() {
        return limit;
    }
    scheduler.sysmon.listening.store(true, Relaxed);
    fence(SeqCst);
    if memory.is_anything_waiting || !waiting::is_anything_waiting(scheduler) {
        return limit;
    }
    memory.calls_itself = true;
    limit.map(|limit| limit.min(SHORTEST))
}

/// How long to sleep; `None`: until a processor becomes busy.
pub(super) fn next_sleep(scheduler: &Scheduler, memory: &mut Memory, now: Instant) -> Option<Duration> {
    let until_timer = until_unserved_timer(scheduler, memory, now);
    let pace = pace(scheduler, memory, now);
    memory.calls_itself = until_timer < pace;
    let pace = pace.min(until_timer);
    if is_any_busy(scheduler) {
        memory.idle_looks = 0;
        return Some(pace);
    }
    memory.idle_looks = if memory.have_turns_passed(&scheduler.processors) { 0 } else { memory.idle_looks + 1 };
    if memory.idle_looks < IDLE_LOOKS || waiting::is_left_alone(scheduler) {
        return Some(pace);
    }
    scheduler.sysmon.asleep.store(true, Relaxed);
    fence(SeqCst);
    // Busy processors first: a machine holds a processor until its hog waits for a permit, so
    // one of the two checks sees it.
    if is_any_busy(scheduler) || scheduler.hogs.waiting() > 0 {
        scheduler.sysmon.asleep.store(false, Relaxed);
        return Some(pace);
    }
    memory.forget();
    memory.idle_looks = 0;
    None
}

/// The thread that drives a current-thread runtime keeps its processor while it sleeps.
fn is_any_busy(scheduler: &Scheduler) -> bool {
    let sleeps = scheduler.config.is_watched && scheduler.idle.has_sleeper();
    scheduler.idle.any_busy() && !sleeps
}

/// How soon to look because of what was seen.
pub(super) fn pace(scheduler: &Scheduler, memory: &Memory, now: Instant) -> Duration {
    let are_all_held = memory.is_anything_waiting && memory.count_held(Duration::ZERO) >= scheduler.idle.unretired();
    pace::pace(Facts {
        threshold: scheduler.config.blocking_threshold,
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
pub(super) fn until_unserved_timer(scheduler: &Scheduler, memory: &Memory, now: Instant) -> Duration {
    let may_sleep = memory.budget.is_left() && (memory.long_polls.are_likely(now) || scheduler.takeable.is_any());
    if !may_sleep || !scheduler.idle.are_all_busy() || scheduler.idle.has_sleeper() {
        return Duration::MAX;
    }
    match scheduler.earliest_timer().checked_sub(scheduler.clock.now_ns()) {
        None | Some(0) => Duration::MAX,
        Some(until) => Duration::from_nanos(until).max(SHORTEST),
    }
}

/// How soon to look while a processor is busy and nothing was seen.
pub(super) fn regular_pace(scheduler: &Scheduler) -> Duration {
    pace::regular(scheduler.config.blocking_threshold)
}

/// `look_soon` may have come between the store of `next_look` and the sleep. Its call is kept,
/// so this only makes sure that sysmon does not sleep longer than `next_look` says.
pub(super) fn until_announced(scheduler: &Scheduler, next: Option<Duration>) -> Option<Duration> {
    let at = scheduler.sysmon.next_look.load(Acquire);
    if at == u64::MAX {
        return next;
    }
    Some(Duration::from_nanos(at).saturating_sub(scheduler.sysmon.epoch.elapsed()))
}

/// Lets looks become rarer while a processor is idle, nothing waits for long and no poll lasts.
pub(super) fn slow_down(scheduler: &Scheduler, memory: &mut Memory) {
    let is_quiet = scheduler.idle.has_idle() && !memory.is_any_stuck() && scheduler.hogs.waiting() == 0;
    let threshold = scheduler.config.blocking_threshold;
    memory.slow_pace = if is_quiet { pace::slower(memory.slow_pace, threshold) } else { Duration::ZERO };
}
