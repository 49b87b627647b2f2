//! Changing the number of processors while the runtime runs (Go: `procresize`, without stopping the
//! world).
//!
//! More: tokens go from the retired list, or from new processors, to the idle list, and a machine
//! is woken if work waits. Fewer: idle processors retire at once. For the others, each machine
//! looks now and then whether there is a surplus (`find_runnable`). If there is, the machine moves
//! its queue to the global queue and returns its processor, which retires. It does not matter which
//! machines do. A stuck machine keeps its processor until that is taken, and then the heir does the
//! same (sched/README.md §11).

pub(in crate::sched) mod follow;

use crate::sched::enter::Held;
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::submit::wake::{ask_once_more, submit_global, submit_permitted};
use crate::sync::{Arc, MutexGuard};
use crate::task::Runnable;

/// Sets how many processors may be in use, as the program wants it. Returns the previous
/// number.
pub(crate) fn set_max_procs(scheduler: &Arc<Scheduler>, count: usize) -> usize {
    let mut is_set = scheduler.resizing.lock();
    *is_set = true;
    change(scheduler, count, is_set)
}

/// Sets as many processors as the process has CPUs now. `false`: the program has set a number.
pub(in crate::sched) fn follow_cpus(scheduler: &Arc<Scheduler>, cpus: usize) -> bool {
    let is_set = scheduler.resizing.lock();
    if *is_set {
        return false;
    }
    if cpus != scheduler.idle.active() {
        change(scheduler, cpus, is_set);
    }
    true
}

/// Unlocks in the middle.
#[doc(alias = "procresize")]
fn change(scheduler: &Arc<Scheduler>, count: usize, lock: MutexGuard<'_, bool>) -> usize {
    let (before, permitted) = resize(scheduler, count);
    drop(lock);
    // What follows may start a thread, whose name comes from a function of the user's.
    permitted.into_iter().for_each(|task| submit_permitted(scheduler, task));
    if count > before {
        // Processors have become idle. The machine that is woken wakes the next one.
        ask_once_more(scheduler);
    } else {
        // Sooner than the next regular look. A request that is overwritten is only late.
        scheduler.processors.iter().for_each(|processor| processor.ask_for_look());
    }
    before
}

/// The change itself, under the lock. Returns the number before, and hogs that may run now.
fn resize(scheduler: &Scheduler, count: usize) -> (usize, Vec<Runnable>) {
    let before = scheduler.idle.resize(count, |more| scheduler.processors.add(more));
    if before == scheduler.idle.active() {
        return (before, Vec::new());
    }
    scheduler.resizes.add(1);
    // As many hogs may compute as the builder would allow for this number of processors.
    let permitted = if scheduler.config.fits_hogs { scheduler.hogs.set_limit(2 * count) } else { Vec::new() };
    (before, permitted)
}

/// A machine has seen that there is a surplus: its tasks go to the global queue. Its own queue is
/// empty afterwards, and so it comes to `find_runnable::look_further`, which returns the processor.
#[cold]
pub(in crate::sched) fn give_away_queue(local: &Local, held: &Held<'_>) {
    let tasks: Vec<_> = std::iter::from_fn(|| held.processor.pop(&held.proof)).collect();
    if !tasks.is_empty() {
        submit_global(&local.scheduler, tasks);
    }
}
