//! Deadlocks of a current-thread runtime: nothing can wake the future of `block_on`, nor any task.
//!
//! The future has an observer as the tasks have. The thread that is about to sleep asks, and polls
//! nothing meanwhile. It is a deadlock if
//!
//! 1. all wakers of the future are in the handles of lost tasks, or there are none,
//! 2. every task that lives is lost, and
//! 3. no task has ever had an `AbortHandle`, by which any thread could end it.
//!
//! Nothing needs to be known about timers, descriptors, closures and other threads: whatever waits for
//! them has a waker. The awaited handles are borrowed by what awaits them, and an abort by another
//! handle ends a task that nothing awaits. Closures count as living tasks. A task that is spawned from
//! outside at this moment has no waker of the others, so the claim stays true.
//!
//! The future must be that of `Runtime::block_on`, which borrows the runtime: the end of the runtime
//! would drop the tasks, and so wake what awaits them.

use crate::sched::lost::{Lost, find};
use crate::sched::scheduler::Scheduler;
use crate::task::Observer;

/// The tasks, if there is a deadlock.
pub(crate) fn find_deadlock(scheduler: &Scheduler, root: &Observer) -> Option<Vec<Lost>> {
    // Most futures have a waker that is in no handle, so that no task needs to be looked at.
    root.only_joins()?;
    let lost = find(scheduler);
    let all_are_lost = lost.len() == scheduler.live_tasks() && !lost.iter().any(|lost| lost.is_abortable);
    let joins = root.only_joins()?;
    let waits_for_lost = joins.iter().all(|awaited| lost.iter().any(|lost| lost.id == *awaited));
    (all_are_lost && waits_for_lost).then_some(lost)
}
