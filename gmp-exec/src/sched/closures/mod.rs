//! Blocking closures: how many may run at a time, and which thread runs them.
//!
//! A closure is a task that is polled once. At most `max_blocking_threads` closures run at a time,
//! each with a permit. The others wait in order, and each closure that ends passes its permit to
//! the first.
//!
//! `spawn_blocking` promises its closure a thread that polls no tasks, before or afterwards, so
//! these closures run in a `pool`. A closure may give its thread another priority, another user or
//! another root; nothing could find out afterwards. A closure that leaves its thread as it was may
//! run `in_place`, which saves two changes of thread: on the machine that finds it, which loses its
//! processor if the closure lasts. On the current-thread flavour the only processor is never taken,
//! so all closures run in the pool.

mod at_shutdown;
pub(super) mod in_place;
mod pool;
mod settings;

use std::io;

pub(crate) use self::settings::in_place_from_env;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::permits::Acquired;
use crate::sched::submit::submit_new;
use crate::sync::Arc;
use crate::sys::stderr;
use crate::task::{Place, Runnable, cancel};

impl Scheduler {
    /// Starts a closure, or lets it wait for a permit. The permit is acquired here and not when a
    /// thread finds the closure: tasks in different queues overtake each other, and closures are
    /// to begin in the order in which they were spawned.
    ///
    /// # Errors
    ///
    /// The system has no thread to give, and the pool has none. The closure was dropped.
    pub(crate) fn submit_closure(self: &Arc<Self>, closure: Runnable) -> io::Result<()> {
        match self.closures.permits.acquire(closure) {
            Acquired::Granted(closure) => return self.start_permitted(closure),
            Acquired::Queued => {}
            Acquired::Refused(closure) => cancel(closure),
        }
        Ok(())
    }

    fn start_permitted(self: &Arc<Self>, closure: Runnable) -> io::Result<()> {
        closure.metadata().give_permit();
        closure.metadata().progress.schedule();
        match closure.metadata().place() {
            Place::Pool => return self.submit_to_pool(closure),
            Place::Machine => submit_new(self, closure),
        }
        Ok(())
    }

    /// Starts a closure that has waited for the permit that it has got. The caller is any thread,
    /// so it can't tell the spawner of the closure that there is no thread.
    fn start_waiting(self: &Arc<Self>, closure: Runnable) {
        if closure.metadata().place() == Place::Machine {
            return self.submit_permitted(closure);
        }
        let spawned_at = closure.metadata().location;
        if let Err(error) = self.start_permitted(closure) {
            stderr::try_write(&format!(
                "gmp: a blocking closure spawned at {spawned_at} was cancelled: OS can't spawn worker thread: {error}\n"
            ));
        }
    }
}
