//! What waits while no machine serves it, and asking machines to do so.

use std::time::{Duration, Instant};

use crate::sched::handoff::take::take_listed;
use crate::sched::scheduler::Scheduler;
use crate::sched::submit::wake::wake_one;
use crate::sched::sysmon::long_polls::LIKELY_FOR;
use crate::sched::sysmon::memory::Memory;
use crate::sched::sysmon::sleep;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// A timer that is so late belongs to a processor whose own machine does not look at it.
const OVERDUE: Duration = Duration::from_millis(1);

/// A submitter has found no listed processor before, or no machine for one.
pub(super) fn take_for_visible_work(scheduler: &Arc<Scheduler>) {
    fence(SeqCst);
    if scheduler.has_visible_work() && !scheduler.idle.should_wake() {
        take_listed(scheduler);
    }
}

/// Whether something waits while every processor is busy.
pub(super) fn is_anything_waiting(scheduler: &Scheduler) -> bool {
    scheduler.idle.are_all_busy()
        && (!scheduler.global.is_empty()
            || scheduler.earliest_timer() <= scheduler.clock.now_ns()
            || scheduler.processors.any(|processor| processor.has_work()))
}

/// Whether something waits that any processor could serve, and none is idle.
pub(super) fn is_waited_for_by_all(scheduler: &Scheduler) -> bool {
    !scheduler.idle.has_idle()
        && (scheduler.has_visible_work()
            || scheduler.earliest_timer() <= scheduler.clock.now_ns()
            || (!scheduler.idle.has_sleeper() && scheduler.netpoll_gate.netpoll().is_some()))
}

/// Whether something waits and no machine is idle to serve it. If a processor is idle at the
/// same time, a thread could not be started for it, and only sysmon will try again. `runnext`
/// counts: on an idle processor it has no owner that would run it.
pub(super) fn is_unattended(scheduler: &Scheduler) -> bool {
    let waits = !scheduler.global.is_empty()
        || scheduler.processors.any(|processor| processor.has_work())
        || scheduler.earliest_timer() != u64::MAX;
    waits && scheduler.idle.snapshot().spares == 0
}

/// Whether work waits that sysmon alone would wake a machine for. Nothing runs the tasks of a
/// current-thread runtime unless a thread drives it.
pub(super) fn is_left_alone(scheduler: &Scheduler) -> bool {
    !scheduler.config.is_watched && (scheduler.has_visible_work() || is_unattended(scheduler))
}

/// Processors look at timers, the network and the global queue after a number of turns. Where
/// so many turns take longer than the regular interval, sysmon asks for a look now. It also
/// asks if a timer is overdue: that of a processor without a machine, or with a stuck one,
/// would otherwise wait until a busy processor's looks have come round to that processor.
pub(super) fn ask_for_looks(scheduler: &Scheduler, memory: &mut Memory, now: Instant) {
    if memory.asked.is_some_and(|at| now.duration_since(at) < sleep::regular_pace(scheduler)) {
        return;
    }
    memory.asked = Some(now);
    memory.turns.resize(scheduler.processors.len(), 0);
    let is_timer_overdue =
        scheduler.earliest_timer().saturating_add(OVERDUE.as_nanos() as u64) <= scheduler.clock.now_ns();
    for seen in &memory.seen {
        let processor = &scheduler.processors[seen.sighting.processor];
        let before = std::mem::replace(&mut memory.turns[seen.sighting.processor], processor.ticks());
        if is_timer_overdue || processor.ticks().wrapping_sub(before) < scheduler.config.event_interval {
            processor.ask_for_look();
        }
    }
}

/// Wakes a machine if work waits although a processor is idle: a thread could not be started,
/// or no machine sleeps in the netpoll while the last one that did is stuck. The machine looks
/// for work and then sleeps in the netpoll.
pub(super) fn wake_for_unwatched_work(scheduler: &Arc<Scheduler>, memory: &mut Memory, now: Instant) {
    if !scheduler.idle.should_wake() {
        return;
    }
    if scheduler.netpoll_gate.netpoll().is_some() && memory.has_poll_of(sleep::regular_pace(scheduler)..LIKELY_FOR, now)
    {
        memory.long_polls.see_poll(now);
    }
    let unwatched = memory.is_any_stuck() && !scheduler.idle.has_sleeper();
    let timers_due = scheduler.earliest_timer() <= scheduler.clock.now_ns();
    if unwatched || timers_due || scheduler.has_visible_work() || is_unattended(scheduler) {
        wake_one(scheduler);
    }
}
