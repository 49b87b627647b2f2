//! What a machine does all day: find a task, run it, notice whether the processor is still there.

use crate::context;
use crate::sched::find_runnable::find_runnable;
use crate::sched::local::Local;
use crate::sched::park::park_as_spare;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::last_poll;
use crate::sched::state::machine::ownership::{Loss, Region};
use crate::sched::state::machine::{Assignment, Machine};
use crate::sync::Arc;
use crate::task::{Offence, Runnable, Special};

/// What a machine's thread does first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Birth {
    /// Its assignment is there already.
    Assigned,
    /// Somebody has set it aside and will assign something, or put it on the list of spares.
    Reserved,
    /// Looks for an idle processor by itself.
    Free,
}

/// The body of a machine's thread.
pub(super) fn run(scheduler: Arc<Scheduler>, machine: Arc<Machine>, birth: Birth) {
    machine.bind();
    crate::sys::timer_slack::minimise();
    last_poll::begin(&machine);
    let local = Local::new(scheduler, machine);
    context::as_machine(&local, |local| {
        day(local, birth);
        last_poll::leave(local);
    });
    local.scheduler.overdue.withdraw(&local.machine);
}

/// The loop of a machine's thread. Returns when the machine is no longer needed.
fn day(local: &Local, birth: Birth) {
    let abort = AbortOnUnwind;
    if begin(local, birth) {
        while let Some(task) = find_runnable(local) {
            execute(local, task);
        }
    }
    std::mem::forget(abort);
}

/// `false`: exit.
fn begin(local: &Local, birth: Birth) -> bool {
    match birth {
        Birth::Free => true,
        Birth::Reserved => park_as_spare(local),
        Birth::Assigned => match local.machine.take_assignment() {
            Some(assignment) => accept(local, assignment),
            None => false,
        },
    }
}

/// Nothing that a task does unwinds into this loop. If something else did, tasks would be lost silently.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("gmp: a machine panicked outside of any task; this is a bug in gmp");
        std::process::abort();
    }
}

/// Takes what the machine was woken for. `false`: exit.
pub(super) fn accept(local: &Local, assignment: Assignment) -> bool {
    match assignment {
        Assignment::Run { token, spinning } => {
            local.acquire(token);
            local.spinning.set(spinning);
            true
        }
        Assignment::Exit => false,
    }
}

/// Runs one task. The machine holds a processor before, and perhaps none afterwards.
pub(super) fn execute(local: &Local, task: Runnable) {
    if local.spinning.get() {
        stop_spinning(local);
    }
    match task.metadata().special() {
        None => poll(local, task, Region::Poll),
        Some(Special::Closure) => crate::sched::closures::execute(local, task),
        Some(Special::Known(offence)) => crate::sched::hogs::execute(local, task, offence),
    }
}

#[cold]
fn stop_spinning(local: &Local) {
    local.spinning.set(false);
    if local.scheduler.idle.stop_spinning() && (local.scheduler.idle.has_idle() || local.scheduler.has_visible_work()) {
        local.scheduler.wake_one();
    }
}

/// Polls a task with the machine's processor, which may be taken meanwhile.
#[inline]
pub(super) fn poll(local: &Local, task: Runnable, region: Region) {
    let ownership = &local.machine.ownership;
    if let Some(index) = ownership.holds() {
        local.scheduler.processors[index].counters.polls.add(1);
    }
    ownership.begin(region);
    task.run();
    let (_, entry) = ownership.enter();
    local.note(entry);
    if let Some(loss) = local.lost.take() {
        come_back(local, loss);
    }
}

/// The processor was taken during the poll that has just ended. Gets another one if one is idle; if not,
/// `find_runnable` parks the machine as a spare.
#[cold]
fn come_back(local: &Local, loss: Loss) {
    if loss.offence == Offence::Burning {
        crate::sched::hogs::finish_unknown(local);
    }
}
