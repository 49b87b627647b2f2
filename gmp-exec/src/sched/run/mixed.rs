//! The order of tasks in a seeded run (`seeded`).

use crate::sched::local::Local;
use crate::sched::state::processor::local_queue::HALF;
use crate::seeded;
use crate::task::Runnable;

/// Of `task` and all others that this processor could run, one that the seed chooses. Another thread
/// may go on first.
pub(in crate::sched) fn mixed(local: &Local, task: Runnable) -> Runnable {
    if !seeded::is_on() {
        return task;
    }
    seeded::pause();
    let Some(held) = local.held().filter(|held| held.processor.depth() < HALF) else { return task };
    let processor = held.processor;
    processor.push_newest(&held.proof, task);
    while processor.depth() < HALF
        && let Some(task) = local.scheduler.global.pop_one()
    {
        processor.push_newest(&held.proof, task);
    }
    let next = || processor.pop_oldest(&held.proof).expect("a task was pushed, and only the owner pops");
    for _ in 0..seeded::pick(processor.depth()) {
        processor.push_newest(&held.proof, next());
    }
    next()
}
