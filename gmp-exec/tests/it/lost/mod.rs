//! Tasks that can never run again are found, and no others.

mod at_the_end;
mod deadlock;
mod found;
mod live;
mod local_sets;
mod racing;
mod silence;
mod stuck;

use gmp_exec::runtime::{Builder, Handle, Leaks, LostTask, Runtime, TaskState};
use gmp_exec::task::yield_now;

use crate::support::{current, multi};

/// A runtime of each kind that counts wakers.
fn observing_runtimes() -> Vec<Runtime> {
    [current(), multi(1), multi(4)].into_iter().map(observing).collect()
}

fn observing(mut builder: Builder) -> Runtime {
    builder.leaks(Leaks::Warn).build().unwrap()
}

/// Waits until all tasks wait and so many are lost. If more are lost than expected, the caller sees
/// it: at that time none of them runs any more.
async fn lost_at_rest(expected: usize) -> Vec<LostTask> {
    let handle = Handle::current();
    while !is_at_rest(&handle) || handle.lost_tasks().tasks.len() < expected {
        yield_now().await;
    }
    handle.lost_tasks().tasks
}

fn is_at_rest(handle: &Handle) -> bool {
    let mut tasks = handle.tasks();
    let all_wait = tasks.by_ref().all(|task| task.state == TaskState::Waiting || task.is_blocking);
    all_wait && tasks.unseen() == 0
}
