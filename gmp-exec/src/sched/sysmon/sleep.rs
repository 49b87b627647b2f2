//! How long sysmon sleeps, how it lets other threads end its sleep, and what waits while no machine
//! serves it.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::state::sysmon::Level;
use crate::sched::submit::wake::wake_one;
use crate::sched::sysmon::pace::{Outcome, SHORTEST, regular};
use crate::sched::sysmon::seen::Memory;
use crate::sync::Arc;
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
    if memory.is_anything_waiting || !is_anything_waiting(scheduler) {
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
    let has_work = !scheduler.config.is_watched && (scheduler.has_visible_work() || is_unattended(scheduler));
    // A look records the ends of polls. If a processor has had a turn since the last look, the pause
    // may be short.
    if is_any_busy(scheduler) || !memory.seen.is_empty() || memory.have_turns_passed(scheduler) || has_work {
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
    let is_needed = !scheduler.config.is_watched && is_anything_waiting(scheduler);
    let regular = regular(scheduler.config.blocking_threshold, is_close);
    memory.pace.account(Outcome { is_needed, is_quiet: is_idle && !is_close, ..outcome }, regular, now);
}

/// Whether something waits while every processor is busy.
pub(super) fn is_anything_waiting(scheduler: &Scheduler) -> bool {
    scheduler.idle.counts().are_all_busy()
        && (has_tasks(scheduler) || scheduler.earliest_timer() <= scheduler.clock.now_ns())
}

/// Whether a task is queued anywhere, `runnext` included.
fn has_tasks(scheduler: &Scheduler) -> bool {
    !scheduler.global.is_empty() || scheduler.processors.any(|processor| processor.has_work())
}

/// Whether something waits that any processor could serve, and none is idle.
pub(super) fn is_waited_for_by_all(scheduler: &Scheduler) -> bool {
    let counts = scheduler.idle.counts();
    let is_unwatched = !counts.has_sleeper() && scheduler.netpoll_gate.netpoll().is_some();
    counts.idle() == 0 && (is_unwatched || scheduler.has_due_work())
}

/// Whether something waits and no machine is idle to serve it. If a processor is idle at the
/// same time, a thread could not be started for it, and only sysmon will try again. `runnext`
/// counts: on an idle processor it has no owner that would run it.
fn is_unattended(scheduler: &Scheduler) -> bool {
    (has_tasks(scheduler) || scheduler.earliest_timer() != u64::MAX) && scheduler.idle.snapshot().spares == 0
}

/// Wakes a machine if work waits although a processor is idle: a thread could not be started,
/// or no machine sleeps in the netpoll while the last one that did is stuck. The machine looks
/// for work and then sleeps in the netpoll.
pub(super) fn wake_for_unwatched_work(scheduler: &Arc<Scheduler>, memory: &mut Memory, now: Instant) {
    if !scheduler.idle.counts().should_wake() {
        return;
    }
    let regular = regular(scheduler.config.blocking_threshold, false);
    let any_is_long = memory.seen.iter_mut().any(|seen| seen.has_become_long(regular));
    if any_is_long && scheduler.netpoll_gate.netpoll().is_some() {
        memory.long_polls.beside_idle = Some(now);
    }
    let unwatched = memory.is_any_stuck() && !scheduler.idle.counts().has_sleeper();
    if unwatched || scheduler.has_due_work() || is_unattended(scheduler) {
        wake_one(scheduler);
    }
}
