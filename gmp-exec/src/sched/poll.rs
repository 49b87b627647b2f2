//! One poll of a task, and the steps of a machine that has lost its processor during the poll.

use crate::sched::hogs;
use crate::sched::local::Local;
use crate::sched::state::machine::ownership::{Loss, Region};
use crate::task::Runnable;

/// Polls a task with the machine's processor, which may be taken during the poll. As a call, a turn
/// takes 24 instructions more; whether the compiler makes one depends on unrelated code.
#[inline(always)]
pub(super) fn poll(local: &Local, task: Runnable, region: Region) {
    let ownership = &local.machine.ownership;
    if let Some(index) = ownership.holds() {
        local.scheduler.processors[index].counters.polls.add(1);
    }
    local.machine.running.set(task.metadata());
    ownership.begin(region);
    task.run();
    let (_, entry) = ownership.enter();
    local.record_loss(entry);
    if let Some(loss) = local.lost_by.take() {
        after_loss(local, loss);
    }
}

/// The processor was taken during the poll that has just ended. `find_runnable` takes another one
/// if one is idle, and otherwise parks the machine as a spare.
#[cold]
fn after_loss(local: &Local, loss: Loss) {
    local.scheduler.record_end_of(&local.machine, local.machine.ownership.turn());
    hogs::finish_unknown(local, loss.cause);
}
