//! The timers of a whole runtime, as the futures of this module see them.
//!
//! A timer belongs to the processor of whoever waits for it: no lock is fought over, and the machine that set it looks
//! at it before it sleeps. It keeps the processor until the timer is set: who takes it then will look, too. A thread without a
//! processor, or about to block with one, picks one at random and must then see to it that somebody gets there: the machine that sleeps in the poller is interrupted if it would sleep too long, or one is woken.

use std::task::Waker;

use super::clock::Clock;
use super::timers::{TimerSlot, Timers};
use crate::context;
use crate::sched::Scheduler;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// A view of the scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driver<'a>(&'a Arc<Scheduler>);

/// Names a timer that was set.
#[derive(Debug)]
pub(crate) struct TimerKey {
    processor: u32,
    slot: TimerSlot,
}

impl<'a> Driver<'a> {
    /// `None` if the runtime's timers are disabled.
    #[inline]
    pub(crate) fn of(scheduler: &'a Arc<Scheduler>) -> Option<Driver<'a>> {
        scheduler.config.enable_time.then_some(Driver(scheduler))
    }

    pub(crate) fn clock(self) -> &'a Clock {
        &self.0.clock
    }

    /// Whether timers have ended.
    pub(crate) fn is_over(self) -> bool {
        self.0.is_over()
    }

    /// The runtime's end will drop the future that is being polled on this thread for `waker`, if it waits.
    pub(crate) fn ends_caller(self, waker: &Waker) -> bool {
        context::is_task_of(self.0, waker)
    }

    /// Calls `waker` once `when` has come.
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

    /// Replaces the waker. `false`: the timer has fired, or is gone.
    pub(crate) fn update(self, key: &TimerKey, waker: &Waker) -> bool {
        self.timers(key.processor as usize).update(key.slot, waker)
    }

    /// Removes a timer; returns its waker if it had not fired.
    pub(crate) fn cancel(self, key: TimerKey) -> Option<Waker> {
        self.timers(key.processor as usize).cancel(key.slot)
    }

    /// Moves a timer. `false`: it has fired, or is gone.
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

    /// The clock was moved: timers may be due, and another thread may be waiting for them.
    pub(crate) fn announce_jump(self) {
        fence(SeqCst);
        self.0.interrupt_sleeper();
    }

    fn timers(self, processor: usize) -> &'a Timers {
        &self.0.processors[processor].timers
    }

    #[cold]
    fn announce(self, when: u64) {
        fence(SeqCst);
        if !self.0.announce_timer(when) {
            self.0.wake_one();
        }
    }
}
