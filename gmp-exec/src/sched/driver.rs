//! The thread that drives a current-thread runtime, and the machine that it is.
//!
//! A program may call `block_on` millions of times, mostly on one thread. A machine takes several
//! allocations and system calls to make, so the thread that has driven leaves its machine for the
//! next one, together with the processor. Another thread makes a machine of its own: a machine has
//! one thread, which others unpark, and whose state and clock they ask for.

use crate::context::{ThisThread, this_thread};
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;

/// A machine of the current-thread flavour. No other is in possession of the processor while a
/// thread uses it.
#[derive(Debug)]
struct Driver {
    local: Local,
    thread: ThisThread,
}

impl Driver {
    fn new(scheduler: &Arc<Scheduler>) -> Box<Driver> {
        let machine = Machine::new(0);
        machine.bind();
        Box::new(Driver { local: Local::new(scheduler.clone(), machine), thread: this_thread() })
    }

    /// What the last thread has left, if that was this one.
    fn of_this_thread(left: idle::Driver) -> Option<Box<Driver>> {
        left.downcast().ok().filter(|driver: &Box<Driver>| driver.thread == this_thread())
    }

    /// The state in which the next call finds the machine, even if the root future has panicked.
    fn reset(&self) {
        // The panic unwinds from inside the poll.
        let _ = self.local.machine.ownership.enter();
        self.local.machine.running.end_root();
        self.local.tap.end_poll();
        // What has yielded in a poll that panicked.
        self.local.deferred.wake_all();
    }
}

/// This thread drives the runtime until this is dropped, even if the root future panics.
pub(super) struct Driving<'a> {
    scheduler: &'a Arc<Scheduler>,
    /// `None` only while being dropped.
    driver: Option<Box<Driver>>,
}

impl<'a> Driving<'a> {
    /// `None`: another thread drives, or the runtime is shutting down.
    pub(super) fn begin(scheduler: &'a Arc<Scheduler>) -> Option<Driving<'a>> {
        let (token, left) = scheduler.idle.acquire_driver()?;
        let driver = left.and_then(Driver::of_this_thread).unwrap_or_else(|| Driver::new(scheduler));
        driver.local.acquire(token);
        scheduler.begin_driving(&driver.local.machine);
        Some(Driving { scheduler, driver: Some(driver) })
    }

    pub(super) fn local(&self) -> &Local {
        &self.driver.as_ref().expect("it is dropped later").local
    }
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        let Some(driver) = self.driver.take() else { return };
        driver.reset();
        self.scheduler.blocked.set_driver(None);
        // `None`: the runtime has ended while this thread drove.
        if let Some(token) = driver.local.machine.ownership.release() {
            driver.local.record_release(Some(&token), 0);
            driver.local.leave_recorder();
            self.scheduler.processors[0].busy.end(self.scheduler.clock.running_ns());
            drop(self.scheduler.idle.put_driver(token, driver));
        }
        if self.scheduler.is_shutdown() {
            // The processor may have come back after shutdown had looked there.
            self.scheduler.drain_late();
        }
        self.scheduler.vacant.notify_additional(usize::MAX);
    }
}
