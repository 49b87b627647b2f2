//! The timers of a whole runtime, as the futures in `time` use them.
//!
//! A timer belongs to the processor that runs the waiting task. So its lock is rarely contended,
//! and the machine that set the timer looks at it before it sleeps. The machine keeps the processor
//! until the timer is set; a taker that gets the processor afterwards looks at the timer, too.
//!
//! A thread without a processor, or in a blocking section, picks a processor at random. It must
//! then make sure that a machine looks at the timer in time: it interrupts the sleeper in the
//! netpoll if that would sleep too long, or else wakes a machine.

use std::task::Waker;

use super::clock::Clock;
use super::timers::{TimerSlot, Timers};
use crate::context;
use crate::sched::Scheduler;
use crate::sched::submit::wake::{announce_timer, interrupt_sleeper, wake_one};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// The scheduler, as timers use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driver<'a>(&'a Arc<Scheduler>);

/// The key of a timer that was set.
#[derive(Debug)]
pub(crate) struct TimerKey {
    processor: u32,
    slot: TimerSlot,
}

impl<'a> Driver<'a> {
    /// Returns `None` if the runtime's timers are disabled.
    #[inline]
    pub(crate) fn of(scheduler: &'a Arc<Scheduler>) -> Option<Driver<'a>> {
        scheduler.config.enable_time.then_some(Driver(scheduler))
    }

    /// The same for a caller that has asked [`of`](Self::of) before: the setting never changes.
    #[inline]
    pub(super) fn of_enabled(scheduler: &'a Arc<Scheduler>) -> Driver<'a> {
        debug_assert!(scheduler.config.enable_time);
        Driver(scheduler)
    }

    pub(crate) fn clock(self) -> &'a Clock {
        &self.0.clock
    }

    /// Whether the runtime's timers have ended.
    pub(crate) fn is_over(self) -> bool {
        self.0.last_poll.is_over()
    }

    /// Whether the future that this thread polls with `waker` is a task of this runtime. If so, the
    /// shutdown drops the future when its poll returns.
    pub(crate) fn ends_caller(self, waker: &Waker) -> bool {
        context::is_task_of(self.0, waker)
    }

    /// Wakes `waker` at the moment `when`.
    #[inline]
    pub(crate) fn insert(self, when: u64, waker: Waker) -> TimerKey {
        let (key, unknown) = context::with_processor(self.0, |own| {
            let processor = own.unwrap_or_else(|| context::any_processor(self.0));
            let (slot, is_earliest) = self.timers(processor).insert(when, waker);
            (TimerKey { processor: processor as u32, slot }, own.is_none() && is_earliest)
        });
        if unknown {
            self.announce(when);
        }
        key
    }

    /// Replaces the waker. Returns `false` if the timer has fired or was removed.
    pub(crate) fn update(self, key: &TimerKey, waker: &Waker) -> bool {
        self.timers(key.processor as usize).update(key.slot, waker)
    }

    /// Removes a timer. Returns its waker if the timer had not fired.
    pub(crate) fn cancel(self, key: TimerKey) -> Option<Waker> {
        self.timers(key.processor as usize).cancel(key.slot)
    }

    /// Moves a timer. Returns `false` if it has fired or was removed.
    pub(crate) fn reset(self, key: &TimerKey, when: u64) -> bool {
        let processor = key.processor as usize;
        let moved = context::with_processor(self.0, |own| {
            let is_earliest = self.timers(processor).reset(key.slot, when)?;
            Some(is_earliest && own != Some(processor))
        });
        if moved == Some(true) {
            self.announce(when);
        }
        moved.is_some()
    }

    /// Called after the clock was moved: timers may be due while another thread sleeps until later.
    pub(crate) fn announce_jump(self) {
        fence(SeqCst);
        interrupt_sleeper(self.0);
    }

    fn timers(self, processor: usize) -> &'a Timers {
        &self.0.processors[processor].timers
    }

    #[cold]
    fn announce(self, when: u64) {
        fence(SeqCst);
        if !announce_timer(self.0, when) {
            wake_one(self.0);
        }
    }
}
