//! The timers of one processor.

use std::task::Waker;

use crate::time::timers;

/// Timers with wakers that do nothing.
#[derive(Debug)]
pub struct Timers {
    timers: timers::Timers,
    fired: Vec<Waker>,
}

/// A time far away from every measured moment.
const FAR: u64 = 1 << 60;

impl Timers {
    /// Sets `standing` timers, far away, which stay.
    pub fn new(standing: usize) -> Timers {
        let this = Timers { timers: timers::Timers::new(), fired: Vec::new() };
        (0..standing as u64).for_each(|offset| this.set(FAR + offset));
        this
    }

    /// Sets a timer.
    pub fn set(&self, when: u64) {
        let _ = self.timers.insert(when, Waker::noop().clone());
    }

    /// Sets a timer and cancels it.
    pub fn set_and_cancel(&self, when: u64) {
        let (slot, _) = self.timers.insert(when, Waker::noop().clone());
        assert!(self.timers.cancel(slot).is_some(), "it has not fired");
    }

    /// Sets a timer, moves it further away and cancels it.
    pub fn set_and_postpone(&self, when: u64) {
        let (slot, _) = self.timers.insert(when, Waker::noop().clone());
        self.timers.reset(slot, when + 1).expect("it has not fired");
        assert!(self.timers.cancel(slot).is_some(), "it has not fired");
    }

    /// Takes out the timers that are due. Returns how many there were.
    pub fn expire(&mut self, now: u64) -> usize {
        self.timers.expire(now, &mut self.fired);
        self.fired.drain(..).count()
    }
}
