//! The thread of a machine: finds a task, runs it, and starts over (Go: `schedule`, `execute`).

pub(in crate::sched) mod find_runnable;
pub(in crate::sched) mod fire_timers;
pub(in crate::sched) mod mixed;
pub(in crate::sched) mod poll;
pub(in crate::sched) mod steal;

use crate::context;
use crate::sched::hogs::time_slice;
use crate::sched::local::{Local, Next};
use crate::sched::run::find_runnable::find_runnable;
use crate::sched::run::mixed::mixed;
use crate::sched::run::poll::{poll, poll_observed};
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::last_poll;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::machine::{Assignment, Machine};
use crate::sched::state::sysmon::Level;
use crate::sched::state::unusual::{AT_POLL, CROWDED, MEASURES, RECORDS, SPINS};
use crate::sched::submit::wake::{ask_once_more, wake_one};
use crate::sched::{closures, hogs};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::{Header, Runnable, Special};

/// The body of a machine's thread.
#[doc(alias = "mstart")]
pub(in crate::sched) fn thread_main(scheduler: Arc<Scheduler>, machine: Arc<Machine>) {
    machine.may_poll.store(true, Relaxed);
    let local = Local::new(scheduler, machine);
    let assignment = local.machine.take_assignment();
    if assignment.is_none() {
        // The first machine, started by the thread that built the runtime; sysmon starts the others.
        local.machine.note_default_slice();
    }
    time_slice::adapt(&local);
    let _seed = context::enter_seed(local.scheduler.config.seeds.as_ref());
    context::as_machine(&local, |local| {
        run(local, assignment);
        // This machine polls no task any more.
        let _ = last_poll::step_out(local);
    });
}

/// Runs tasks until the machine is no longer needed.
#[doc(alias = "schedule")]
fn run(local: &Local, assignment: Option<Assignment>) {
    let first = assignment.map_or(Next::Look, |assignment| local.accept(assignment));
    if !matches!(first, Next::Exit) {
        while let Some(task) = find_runnable(local) {
            execute(local, mixed(local, task));
        }
    }
}

/// Runs one task. The machine holds a processor before, and perhaps none afterwards.
pub(in crate::sched) fn execute(local: &Local, task: Runnable) {
    let is_observed = local.unusual.is_any(AT_POLL) && prepare(local, task.metadata());
    match task.metadata().special() {
        // A blocking closure tells its observers itself.
        Some(Special::Closure) => closures::in_place::execute(local, task),
        Some(Special::Hog(cause)) => hogs::execute(local, task, cause),
        None if is_observed => poll_observed(local, task),
        None => poll(local, task, Region::Poll),
    }
}

/// Returns whether the poll is observed.
#[cold]
fn prepare(local: &Local, task: &Header) -> bool {
    if local.unusual.is_any(SPINS) {
        stop_spinning(local);
    }
    if local.unusual.is_any(CROWDED) {
        hogs::mark_suspect(local, task);
    }
    local.unusual.is_any(MEASURES | RECORDS)
}

/// Submitters have left their work to the last spinner. It wakes a machine if there is any, or if none
/// sleeps in the netpoll while this machine is about to run a task that may be long.
fn stop_spinning(local: &Local) {
    local.unusual.set(SPINS, false);
    let scheduler = &local.scheduler;
    if !scheduler.idle.stop_spinning() {
        return;
    }
    if scheduler.sysmon.expects(Level::LongPolls) && !scheduler.idle.counts().has_sleeper() {
        wake_one(scheduler);
    } else {
        ask_once_more(scheduler);
    }
}
