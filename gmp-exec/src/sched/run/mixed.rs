//! The order of tasks in a seeded run (`seeded`).

use std::collections::VecDeque;
use std::iter;

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
    let choices = if local.is_current_thread && seeded::keeps_order() { 1 } else { HALF };
    let own = iter::from_fn(|| held.processor.pop_oldest(&held.proof));
    let others = iter::from_fn(|| local.scheduler.global.pop_one());
    let mut tasks: VecDeque<_> = iter::once(task).chain(own).chain(others).take(choices).collect();
    let ids: Vec<_> = tasks.iter().map(|task| task.metadata().id_and_place()).collect();
    let chosen = tasks.remove(seeded::pick_task(&ids)).expect("of these tasks");
    tasks.into_iter().for_each(|task| held.processor.push_newest(&held.proof, task));
    chosen
}
