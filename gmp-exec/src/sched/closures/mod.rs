//! `spawn_blocking`: how many closures may run at a time, and who runs them.
//!
//! A blocking closure is a task whose body is a blocking section. The machine that comes across it runs it where it is,
//! and its processor is taken if the closure lasts: a short one costs a queue operation, not two thread switches. At
//! most `max_blocking_threads` run at a time; the others wait here, in order, and each closure that ends hands its place to the
//! first. Once a closure was long, so probably are the next ones, and each gives the processor on before it begins.
//!
//! On the current-thread flavour the only processor is never taken, so closures go to machines that have none.

mod at_shutdown;
pub(super) mod inline;
mod pool;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::permits::Acquired;
use crate::sync::Arc;
use crate::task::{Runnable, cancel};

impl Scheduler {
    /// Queues a closure, or lets it wait for a place. Here and not when a machine comes across it: queues overtake each other,
    /// and who comes first is to be served first.
    pub(crate) fn submit_closure(self: &Arc<Self>, task: Runnable) {
        match self.closures.permits.acquire(task) {
            Acquired::Granted(task) => {
                task.metadata().give_permit();
                task.schedule();
            }
            Acquired::Queued => {}
            Acquired::Refused(task) => cancel(task),
        }
    }
}
