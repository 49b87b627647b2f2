//! One poll of a task, and the steps of a machine that has lost its processor during the poll.

use crate::observe::{self, Event, Measured};
use crate::sched::handoff::take::give_back;
use crate::sched::local::Local;
use crate::sched::state::machine::ownership::{Loss, Region};
use crate::task::{Runnable, StuckBy, poll_watched, run_watched};

/// Polls a task with the machine's processor, which may be taken during the poll. As a call, a turn
/// takes 24 instructions more; whether the compiler makes one depends on unrelated code.
#[inline(always)]
pub(in crate::sched) fn poll(local: &Local, task: Runnable, region: Region) {
    run_task(local, task, region, |task| _ = task.run());
    settle(local);
}

/// The same, observed.
#[inline(never)]
pub(in crate::sched) fn poll_observed(local: &Local, task: Runnable) {
    let measured = observe::before_poll(local, task.metadata());
    let latency = measured.as_ref().and_then(Measured::latency);
    run_task(local, task, Region::Poll, |task| poll_watched(task, latency));
    observe::after_poll(local, measured);
    settle(local);
}

/// The same for a closure, whose time is no poll time.
pub(in crate::sched) fn run_closure(local: &Local, closure: Runnable) {
    observe::on(local, Event::PollBegin(closure.metadata(), Some(&local.machine)));
    run_task(local, closure, Region::Blocking, run_watched);
    observe::on(local, Event::PollEnd);
    settle(local);
}

/// A poll counts for the processor that the machine has acquired last, although that may have been
/// handed off since. A blocking closure is no poll.
#[inline(always)]
fn run_task(local: &Local, task: Runnable, region: Region, run: impl FnOnce(Runnable)) {
    let ownership = &local.machine.ownership;
    if region == Region::Poll {
        match ownership.holds() {
            Some(index) => local.scheduler.processors[index].counters.polls.add(1),
            None => count_without_processor(local),
        }
    }
    local.machine.running.write(task.metadata().id, task.metadata().location);
    ownership.begin(region);
    run(task);
    let (_, loss) = ownership.enter();
    local.record_loss(loss);
}

#[cold]
fn count_without_processor(local: &Local) {
    local.scheduler.processors[local.last_processor.get()].counters.polls_without.add_shared(1);
}

/// What follows if the machine has lost its processor during the poll.
#[inline(always)]
fn settle(local: &Local) {
    if let Some(loss) = local.lost_by.take() {
        after_loss(local, loss);
    }
}

/// The processor was taken during the poll that has just ended. `find_runnable` takes another one
/// if one is idle, and otherwise parks the machine as a spare.
#[cold]
fn after_loss(local: &Local, loss: Loss) {
    observe::on_end_of_long_poll(&local.scheduler, &local.machine, local.machine.ownership.turn());
    if loss.cause == StuckBy::Computing {
        give_back(&local.scheduler, &local.machine);
    }
}
