//! What waits while no machine serves it, and asking machines to do so.

use std::time::{Duration, Instant};

use crate::sched::handoff::take::take_listed;
use crate::sched::scheduler::Scheduler;
use crate::sched::sysmon::long_polls::LIKELY_FOR;
use crate::sched::sysmon::memory::Memory;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// A timer that is so late belongs to a processor whose own machine does not look at it.
const OVERDUE: Duration = Duration::from_millis(1);

impl Scheduler {
    /// A submitter has found no listed processor before, or no machine for one.
    pub(super) fn retake_for_visible_work(self: &Arc<Self>) {
        fence(SeqCst);
        if self.has_visible_work() && !self.idle.should_wake() {
            take_listed(self);
        }
    }

    /// Whether something waits while every processor is busy.
    pub(super) fn is_anything_waiting(&self) -> bool {
        self.idle.are_all_busy()
            && (!self.global.is_empty()
                || self.earliest_timer() <= self.clock.now_ns()
                || self.processors.any(|processor| processor.has_work()))
    }

    /// Whether something waits that any processor could serve, and none is idle.
    pub(super) fn is_waited_for_by_all(&self) -> bool {
        !self.idle.has_idle()
            && (self.has_visible_work()
                || self.earliest_timer() <= self.clock.now_ns()
                || (!self.idle.has_sleeper() && self.netpoll_gate.netpoll().is_some()))
    }

    /// Whether something waits and no machine is idle to serve it. If a processor is idle at the
    /// same time, a thread could not be started for it, and only sysmon will try again. `runnext`
    /// counts: on an idle processor it has no owner that would run it.
    pub(super) fn is_unattended(&self) -> bool {
        let waits = !self.global.is_empty()
            || self.processors.any(|processor| processor.has_work())
            || self.earliest_timer() != u64::MAX;
        waits && self.idle.snapshot().spares == 0
    }

    /// Processors look at timers, the network and the global queue after a number of turns. Where
    /// so many turns take longer than the regular interval, sysmon asks for a look now. It also
    /// asks if a timer is overdue: that of a processor without a machine, or with a stuck one,
    /// would otherwise wait until a busy processor's looks have come round to that processor.
    pub(super) fn ask_for_looks(&self, memory: &mut Memory, now: Instant) {
        if memory.asked.is_some_and(|at| now.duration_since(at) < self.regular_pace()) {
            return;
        }
        memory.asked = Some(now);
        memory.turns.resize(self.processors.len(), 0);
        let is_timer_overdue = self.earliest_timer().saturating_add(OVERDUE.as_nanos() as u64) <= self.clock.now_ns();
        for seen in &memory.seen {
            let processor = &self.processors[seen.sighting.processor];
            let before = std::mem::replace(&mut memory.turns[seen.sighting.processor], processor.ticks());
            if is_timer_overdue || processor.ticks().wrapping_sub(before) < self.config.event_interval {
                processor.ask_for_look();
            }
        }
    }

    /// Wakes a machine if work waits although a processor is idle: a thread could not be started,
    /// or no machine sleeps in the netpoll while the last one that did is stuck. The machine looks
    /// for work and then sleeps in the netpoll.
    pub(super) fn wake_for_unwatched_work(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        if !self.idle.should_wake() {
            return;
        }
        if self.netpoll_gate.netpoll().is_some() && memory.has_poll_of(self.regular_pace()..LIKELY_FOR, now) {
            memory.long_polls.see_poll(now);
        }
        let unwatched = memory.is_any_stuck() && !self.idle.has_sleeper();
        let timers_due = self.earliest_timer() <= self.clock.now_ns();
        if unwatched || timers_due || self.has_visible_work() || self.is_unattended() {
            self.wake_one();
        }
    }
}
