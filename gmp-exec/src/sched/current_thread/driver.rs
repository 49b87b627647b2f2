//! The thread that drives a current-thread runtime, and the machine that it is.
//!
//! A program may call `block_on` millions of times, mostly on one thread. A machine takes several
//! allocations and system calls to make, so the thread that has driven leaves its machine for the
//! next one, together with the processor. Another thread makes a machine of its own: a machine has
//! one thread, which others unpark, and whose state and clock they ask for.

use crate::context::{ThisThread, this_thread};
use crate::observe;
use crate::sched::current_thread::root::Root;
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::idle;
use crate::sched::state::machine::Machine;
use crate::sched::submit::wake::notify_waiting;
use crate::sync::Arc;
use crate::task::Id;

/// A machine of the current-thread flavour. No other is in possession of the processor while a
/// thread uses it.
pub(in crate::sched) struct Driver {
    pub(in crate::sched) local: Local,
    thread: ThisThread,
    /// That of the last call. Making one takes an allocation.
    pub(in crate::sched) root: Root,
}

impl Driver {
    fn new(scheduler: &Arc<Scheduler>, root: Id) -> Box<Driver> {
        let machine = Machine::new(0);
        machine.bind();
        scheduler.processors[0].set_holder(&machine);
        let (local, root) = (Local::new(scheduler.clone(), machine), Root::new(scheduler, root));
        Box::new(Driver { local, thread: this_thread(), root })
    }

    /// What the last thread has left, if that was this one.
    fn again(left: idle::Driver, root: Id) -> Option<Box<Driver>> {
        let mut driver: Box<Driver> = left.downcast().ok()?;
        if driver.thread != this_thread() {
            return None;
        }
        if !driver.root.renew(root) {
            driver.root = Root::new(&driver.local.scheduler, root);
        }
        Some(driver)
    }
}

/// This thread drives the runtime until this is dropped, even if the root future panics.
pub(in crate::sched) struct Driving<'a> {
    scheduler: &'a Arc<Scheduler>,
    /// `None` only while being dropped.
    driver: Option<Box<Driver>>,
}

impl<'a> Driving<'a> {
    /// `root`: the id of the root future. `None`: another thread drives, or the runtime is shutting
    /// down.
    pub(in crate::sched) fn begin(scheduler: &'a Arc<Scheduler>, root: Id) -> Option<Driving<'a>> {
        let (token, left) = scheduler.idle.acquire_driver()?;
        let driver = left.and_then(|left| Driver::again(left, root)).unwrap_or_else(|| Driver::new(scheduler, root));
        driver.local.acquire_again(token);
        if scheduler.config.is_watched {
            scheduler.sysmon.notice_busy(&scheduler.idle);
        }
        Some(Driving { scheduler, driver: Some(driver) })
    }

    pub(in crate::sched) fn driver(&self) -> &Driver {
        self.driver.as_ref().expect("it is dropped later")
    }
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        let Some(driver) = self.driver.take() else { return };
        // `None`: the runtime has ended while this thread drove.
        if let Some(token) = driver.local.machine.ownership.release() {
            observe::on_leave(&driver.local, &token);
            let busy = &self.scheduler.processors[0].busy;
            // A future that was ready at its first poll has made nothing busy.
            if busy.is_counting() {
                busy.end(self.scheduler.clock.running_ns());
            }
            drop(self.scheduler.idle.put_driver(token, driver));
        }
        if self.scheduler.is_shutdown() {
            // The processor may have come back after shutdown had looked there.
            drain_late(self.scheduler);
        }
        notify_waiting(self.scheduler);
    }
}
