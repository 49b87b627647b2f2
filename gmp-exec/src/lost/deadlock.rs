//! Deadlocks of a current-thread runtime: nothing can wake the future of `block_on`, nor any task.
//!
//! The future has an observer as the tasks have. The thread that is about to sleep asks, and polls
//! nothing meanwhile. It is a deadlock if
//!
//! 1. all wakers of the future are in the handles of lost tasks, or in sets whose tasks are all
//!    lost,
//!    or there are none,
//! 2. every task of the runtime that lives is lost, and
//! 3. no task has ever had an `AbortHandle`, by which any thread could end it.
//!
//! Nothing needs to be known about timers, descriptors, closures and other threads: whatever waits
//! for them has a waker. The awaited handles are borrowed by what awaits them, and an abort by
//! another handle ends a task that nothing awaits. Closures count as living tasks. A task that is
//! spawned from outside at this moment has no waker of the others, so the claim stays true.
//!
//! A set wakes the future when a task of the set is woken. Only `LocalSet::run_until` counts: its
//! future is ready when another future is. A future that is ready at the end of all tasks of the
//! set could be woken by an abort.
//!
//! The future must be that of `Runtime::block_on`, which borrows the runtime: the end of the
//! runtime would drop the tasks, and so wake what awaits them.

use crate::lost::{Lost, find};
use crate::sched::Scheduler;
use crate::sync::Arc;
use crate::task::{Awaited, LocalHome, Observer, local_sets_of};

/// The tasks, if there is a deadlock.
pub(crate) fn find_deadlock(scheduler: &Scheduler, root: &Observer) -> Option<Vec<Lost>> {
    // Most futures have a waker that is in no handle, so that no task needs to be looked at.
    root.only_joins()?;
    let lost = find(scheduler);
    let sets = local_sets_of(scheduler);
    let all_are_lost = count(&lost, 0) == scheduler.live_tasks() && !lost.iter().any(|lost| lost.is_abortable);
    let joins = root.only_joins()?;
    let waits_for_lost = joins.iter().all(|awaited| is_lost(awaited, &lost, &sets));
    (all_are_lost && waits_for_lost).then_some(lost)
}

fn is_lost(awaited: &Awaited, lost: &[Lost], sets: &[Arc<LocalHome>]) -> bool {
    match *awaited {
        Awaited::Task(id) => lost.iter().any(|lost| lost.id == id),
        Awaited::Set(address) => sets.iter().any(|set| set.address() == address && set.len() == count(lost, address)),
    }
}

/// How many of them are of the set of this address; 0: of none.
fn count(lost: &[Lost], set: usize) -> usize {
    lost.iter().filter(|lost| lost.set == set).count()
}
