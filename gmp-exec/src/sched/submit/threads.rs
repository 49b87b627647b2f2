//! Starting the threads of machines.

use std::io;

use crate::sched::handoff::no_machine;
use crate::sched::run;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::machine::{Assignment, Birth, Machine, thread_root};
use crate::sched::state::sysmon::calls;
use crate::sched::submit::head_room::check_room_for_machine;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sys::stderr;

/// Makes a machine that `idle` has counted, and lets sysmon start its thread if there is a
/// sysmon (`state::sysmon::starts`).
#[doc(alias = "newm")]
pub(in crate::sched) fn start_machine(scheduler: &Arc<Scheduler>, id: usize, assignment: Assignment) {
    let machine = Machine::new(id);
    machine.assign(assignment);
    match scheduler.sysmon.starts.add(machine) {
        Ok(()) => scheduler.sysmon.calls.add(calls::START),
        Err(machine) => start_here(scheduler, &machine),
    }
}

/// Starts the thread of a machine. If the system has no thread to give, the processor goes back
/// to the idle list: running machines look there before they park, and sysmon tries again.
pub(in crate::sched) fn start_here(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) {
    let Err(error) = spawn_thread(scheduler, machine, Birth::Assigned) else { return };
    say_no_thread(scheduler, &error);
    if let Some(assignment) = machine.take_assignment() {
        let tasks = match &assignment {
            Assignment::Run { token, .. } => no_machine::take_tasks(scheduler, token),
            Assignment::Exit => Vec::new(),
        };
        scheduler.idle.not_started(assignment);
        if scheduler.is_shutdown() {
            // The machines that would look there may all have left.
            drain_late(scheduler);
        }
        no_machine::attend_to(scheduler, tasks);
    }
}

/// Says once that the system has no thread to give: what needs the thread may wait for long. The
/// caller may be any thread, so it must not wait for the reader of standard error.
#[cold]
pub(in crate::sched) fn say_no_thread(scheduler: &Scheduler, error: &io::Error) {
    if !scheduler.has_said_no_thread.swap(true, Relaxed) {
        let waits = "what needs the thread waits until it can";
        stderr::try_write(&format!("gmp: OS can't spawn worker thread: {error}; {waits}\n"));
    }
}

pub(in crate::sched) fn spawn_thread(
    scheduler: &Arc<Scheduler>,
    machine: &Arc<Machine>,
    birth: Birth,
) -> io::Result<()> {
    check_room_for_machine(scheduler)?;
    let scheduler = scheduler.clone();
    start_thread(scheduler, machine.clone(), move |machine| {
        scheduler.config.hooks.started();
        thread_root::run(&mut || run::thread_main(scheduler.clone(), machine.clone(), birth));
        scheduler.config.hooks.stopped();
    })
}

/// Starts a thread, named as the user wants, for a machine that has none yet.
pub(in crate::sched) fn start_thread(
    scheduler: &Scheduler,
    machine: Arc<Machine>,
    body: impl FnOnce(Arc<Machine>) + Send + 'static,
) -> io::Result<()> {
    let (threads, slack) = (&scheduler.config.threads, scheduler.config.timer_slack);
    scheduler.all_machines.start(threads, threads.name(), machine.clone(), move || {
        // sysmon's, if sysmon has started this thread.
        slack.set();
        body(machine);
    })
}

/// Makes sure that a scheduler with idle processors has a thread at all. A later failure to
/// start a thread then only slows it down.
pub(crate) fn start_first_machine(scheduler: &Arc<Scheduler>) -> io::Result<()> {
    let Some(id) = scheduler.idle.count_machine() else { return Ok(()) };
    let result = spawn_thread(scheduler, &Machine::new(id), Birth::Free);
    if result.is_err() {
        scheduler.idle.uncount_machine();
    }
    result
}
