//! How long sysmon sleeps, and how it lets other threads end its sleep.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::state::sysmon::Level;
use crate::sched::sysmon::pace::{Outcome, SHORTEST, regular};
use crate::sched::sysmon::seen::Memory;
use crate::sched::sysmon::waiting;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::sys::sigurg;

/// Sleeps for `limit` (`None`: until a call). Returns the reasons of the calls.
pub(super) fn sleep(scheduler: &Scheduler, memory: &mut Memory, limit: Option<Duration>) -> u8 {
    let sysmon = &scheduler.sysmon;
    sysmon.is_slow.store(limit > Some(regular(scheduler.config.blocking_threshold, false)), Relaxed);
    let limit = listen(scheduler, memory, limit);
    let reasons = sigurg::asleep(|| sysmon.calls.wait(limit));
    sysmon.listening.store(false, Relaxed);
    sysmon.asleep.store(false, Relaxed);
    reasons
}

/// Lets submitters call, if there is budget left. No submitter has called for work that was
/// published before, so sysmon looks for that itself, as if one had.
pub(super) fn listen(scheduler: &Scheduler, memory: &mut Memory, limit: Option<Duration>) -> Option<Duration> {
    if !scheduler.config.sysmon || limit.is_none() || memory.pace.is_spent {
        return limit;
    }
    scheduler.sysmon.listening.store(true, Relaxed);
    fence(SeqCst);
    if memory.is_anything_waiting || !waiting::is_anything_waiting(scheduler) {
        return limit;
    }
    memory.was_called = true;
    limit.map(|limit| limit.min(SHORTEST))
}

/// How long to sleep; `None`: until a processor becomes busy.
pub(super) fn next_sleep(scheduler: &Scheduler, memory: &mut Memory) -> Option<Duration> {
    let until_timer = until_unserved_timer(scheduler, memory);
    memory.was_called = until_timer < memory.pace.interval;
    let pace = memory.pace.interval.min(until_timer);
    // Nothing runs the tasks of a current-thread runtime unless a thread drives it.
    let has_work = !scheduler.config.is_watched && (scheduler.has_visible_work() || waiting::is_unattended(scheduler));
    // A look records the ends of polls. If a processor has had a turn since the last look, the pause
    // may be short.
    if is_any_busy(scheduler) || !memory.seen.is_empty() || memory.have_turns_passed(&scheduler.processors) || has_work
    {
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
    // An unknown time begins, which is not to count.
    memory.looked_at = None;
    None
}

/// The thread that drives a current-thread runtime keeps its processor while it sleeps.
fn is_any_busy(scheduler: &Scheduler) -> bool {
    let sleeps = scheduler.config.is_watched && scheduler.idle.counts().has_sleeper();
    scheduler.idle.any_busy() && !sleeps
}

/// When a timer comes due that perhaps no machine serves: every processor is busy, and its poll
/// is known to sleep, or is likely to. A timer that is due already waits as any other work
/// does.
pub(super) fn until_unserved_timer(scheduler: &Scheduler, memory: &Memory) -> Duration {
    let is_likely = scheduler.sysmon.expects(Level::LongPolls) || memory.is_any_stuck();
    let counts = scheduler.idle.counts();
    if memory.pace.is_spent || !is_likely || !counts.are_all_busy() || counts.has_sleeper() {
        return Duration::MAX;
    }
    match scheduler.earliest_timer().checked_sub(scheduler.clock.now_ns()) {
        None | Some(0) => Duration::MAX,
        Some(until) => Duration::from_nanos(until).max(SHORTEST),
    }
}

/// Accounts for a look that is over.
pub(super) fn account(scheduler: &Scheduler, memory: &mut Memory, outcome: Outcome, now: Instant) {
    let is_close = memory.long_polls.are_likely_beside_idle(now);
    let is_idle = scheduler.idle.counts().idle() > 0 && !memory.is_any_stuck() && scheduler.hogs.waiting() == 0;
    let is_needed = !scheduler.config.is_watched && waiting::is_anything_waiting(scheduler);
    let regular = regular(scheduler.config.blocking_threshold, is_close);
    memory.pace.account(Outcome { is_needed, is_quiet: is_idle && !is_close, ..outcome }, regular, now);
}
