//! The parts of the scheduler by themselves, for the micro-benchmarks of gmp-micro. This module
//! exists only with `--cfg gmp_bench`.
//!
//! The cost of a part is lost in the time of a whole program, and the means to run a part alone (a
//! processor, the proof of owning it, a machine that is stuck) are private for good reasons. So
//! only this module exposes the parts: real ones, used by one thread, which plays the machines
//! itself. Nothing here is unsafe: proofs come from where machines get them.
//!
//! Rejected: a feature, because any dependent could switch it on, and the build of a whole
//! workspace would switch it on for the programs that are measured; and including the files in the
//! benchmark once more, which would measure copies.
#![allow(missing_debug_implementations, reason = "the parts have none")]

mod queues;
mod relay;
mod timers;

pub use queues::Queues;
pub use relay::Relay;
pub use timers::Timers;

use std::panic::Location;

use crate::runtime::Builder;
use crate::sched::local::Local;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::task::{Header, Kind, Runnable, new_task};

/// A scheduler that starts no threads by itself.
fn scheduler(processors: usize) -> Arc<Scheduler> {
    let mut builder = Builder::new_multi_thread();
    let config = builder.worker_threads(processors).enable_time().config(false);
    Scheduler::new(config.expect("the number of processors is given"))
}

/// A machine without a thread and without a processor.
fn machine(scheduler: &Arc<Scheduler>) -> Local {
    let id = scheduler.idle.count_machine().expect("thousands are allowed");
    Local::new(scheduler.clone(), Machine::new(id))
}

/// The same with a processor.
fn busy_machine(scheduler: &Arc<Scheduler>) -> Local {
    let local = machine(scheduler);
    local.acquire(scheduler.idle.acquire().expect("there are as many processors as busy machines"));
    local
}

/// A scheduled task that does nothing. It must be run.
fn task(scheduler: &Arc<Scheduler>) -> Runnable {
    let header = Header::new(
        SchedulerRef::new(scheduler.clone()).home().clone(),
        Kind::Task(Default::default()),
        Location::caller(),
    );
    new_task(header, async {}).0
}
