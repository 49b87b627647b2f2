//! Blocking closures: how many may run at a time, and which thread runs them.
//!
//! A closure is a task that is polled once. At most `max_blocking_threads` closures run at a time,
//! each with a permit. The others wait in order, and each closure that ends passes its permit to
//! the first.
//!
//! `spawn_blocking` promises its closure a thread that polls no tasks, before or afterwards, so
//! these closures run in a `pool`. A closure may give its thread another priority, another user or
//! another root, and no check afterwards could find every such change. A closure that leaves its
//! thread as it was may run `in_place`, which saves two changes of thread: on the machine that finds
//! it, which loses its processor if the closure lasts. On the current-thread flavour the only
//! processor is never taken, so all closures run in the pool.

pub(crate) mod at_shutdown;
pub(super) mod in_place;
mod pool;

use std::io;
use std::panic::Location;

use crate::escaped::Escaped;
use crate::sched::closures::pool::submit_to_pool;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::permits::Acquired;
use crate::sched::submit::wake::submit_permitted;
use crate::sync::Arc;
use crate::sys::stderr;
use crate::task::{Place, Runnable, cancel};

/// Starts a closure, or lets it wait for a permit. The permit is acquired here and not when a
/// thread finds the closure: tasks in different queues overtake each other, and closures are
/// to begin in the order in which they were spawned.
///
/// # Errors
///
/// The system has no thread to give, and the pool has none. The closure was dropped.
pub(crate) fn submit_closure(scheduler: &Arc<Scheduler>, closure: Runnable) -> io::Result<()> {
    match scheduler.closures.permits.acquire(closure) {
        Acquired::Granted(closure) => {
            return start_permitted(scheduler, closure).inspect_err(|_| release_closure_permit(scheduler));
        }
        Acquired::Queued => {}
        Acquired::Refused(closure) => cancel(closure),
    }
    Ok(())
}

/// # Errors
///
/// There is no thread. The closure was dropped, and the caller must release its permit.
fn start_permitted(scheduler: &Arc<Scheduler>, closure: Runnable) -> io::Result<()> {
    closure.metadata().give_permit();
    if closure.metadata().place() == Place::Pool {
        return submit_to_pool(scheduler, closure);
    }
    closure.schedule();
    Ok(())
}

/// For a thread that can't run the next closure itself.
fn release_closure_permit(scheduler: &Arc<Scheduler>) {
    if let Some(next) = scheduler.closures.permits.release_to_next() {
        start_waiting(scheduler, next);
    }
}

/// Starts a closure that has waited for the permit that it has got. The caller is any thread,
/// so it can't tell the spawner of the closure that there is no thread. Then the permit goes on
/// to the next closure.
fn start_waiting(scheduler: &Arc<Scheduler>, closure: Runnable) {
    let mut waiting = Some(closure);
    while let Some(closure) = waiting.take() {
        if closure.metadata().place() == Place::Machine {
            return submit_permitted(scheduler, closure);
        }
        let spawned_at = closure.metadata().location;
        if let Err(error) = start_permitted(scheduler, closure) {
            say_dropped(spawned_at, &error);
            waiting = scheduler.closures.permits.release_to_next();
        }
    }
}

/// There is no thread for a closure whose spawner has gone on.
fn say_dropped(spawned_at: &Location<'_>, error: &io::Error) {
    let place = spawned_at.to_string();
    let (place, reason) = (Escaped(&place), format_args!("OS can't spawn worker thread: {error}"));
    stderr::try_write(&format!("gmp: a blocking closure spawned at {place} was cancelled: {reason}\n"));
}
