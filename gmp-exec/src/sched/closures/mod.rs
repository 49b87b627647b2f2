//! `spawn_blocking`: how many closures may run at a time, and which thread runs them.
//!
//! A blocking closure is a task whose body is a blocking section. The machine that finds the
//! closure runs it in place, and loses its processor if the closure lasts: a short closure costs a
//! queue operation, not two thread switches. At most `max_blocking_threads` run at a time, each
//! with a permit. The others wait in order, and each closure that ends passes its permit to the
//! first. Once a closure was long, the next ones are probably long, too, so machines hand off their
//! processor before they run them.
//!
//! On the current-thread flavour the only processor is never taken, so closures run on threads that
//! have none.

mod at_shutdown;
pub(super) mod inline;
mod pool;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::permits::Acquired;
use crate::sched::submit::submit_new;
use crate::sync::Arc;
use crate::task::{Runnable, cancel};

impl Scheduler {
    /// Queues a closure, or lets it wait for a permit. The permit is acquired here and not when a
    /// machine finds the closure: tasks in different queues overtake each other, and closures are
    /// to run in the order in which they were spawned.
    pub(crate) fn submit_closure(self: &Arc<Self>, task: Runnable) {
        match self.closures.permits.acquire(task) {
            Acquired::Granted(task) => {
                task.metadata().give_permit();
                task.metadata().progress.schedule();
                submit_new(self, task);
            }
            Acquired::Queued => {}
            Acquired::Refused(task) => cancel(task),
        }
    }
}
