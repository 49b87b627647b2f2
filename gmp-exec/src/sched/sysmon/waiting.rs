//! What waits while no machine serves it, and asking machines to do so.

use std::time::Instant;

use crate::sched::scheduler::Scheduler;
use crate::sched::submit::wake::wake_one;
use crate::sched::sysmon::pace::regular;
use crate::sched::sysmon::seen::Memory;
use crate::sync::Arc;

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
pub(super) fn is_unattended(scheduler: &Scheduler) -> bool {
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
