//! Starting the threads of machines.

use std::io;

use crate::context;
use crate::sched::run;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::machine::{Machine, thread_root};
use crate::sched::state::threads::{Hook, call};
use crate::sched::submit::head_room::check_head_room;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sys::stderr;

/// Says once that the system has no thread to give: what needs the thread may wait for long. The
/// caller may be any thread, so it must not wait for the reader of standard error.
#[cold]
pub(crate) fn say_no_thread(scheduler: &Scheduler, error: &io::Error) {
    if !scheduler.has_said_no_thread.swap(true, Relaxed) {
        let waits = "what needs the thread waits until it can";
        stderr::try_write(&format!("gmp: OS can't spawn worker thread: {error}; {waits}\n"));
    }
}

/// Starts the thread of a machine that `idle` has counted. A machine beyond the number of processors
/// needs head-room.
pub(in crate::sched) fn spawn_thread(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) -> io::Result<()> {
    if scheduler.idle.snapshot().machines > scheduler.idle.active() {
        check_head_room(scheduler)?;
    }
    start_thread(scheduler, machine.clone(), move |scheduler, machine| {
        thread_root::run(&mut || run::thread_main(scheduler.clone(), machine.clone()));
    })
}

/// Starts a thread, named as the user wants, for a machine that has none yet.
pub(in crate::sched) fn start_thread(
    scheduler: &Arc<Scheduler>,
    machine: Arc<Machine>,
    body: impl FnOnce(&Arc<Scheduler>, &Arc<Machine>) + Send + 'static,
) -> io::Result<()> {
    let (for_thread, threads) = (scheduler.clone(), &scheduler.config.threads);
    scheduler.all_machines.start(threads, threads.name(), machine.clone(), move || {
        // sysmon's, if sysmon has started this thread.
        for_thread.config.timer_slack.set();
        call_within(&for_thread, &for_thread.config.hooks.on_start);
        body(&for_thread, &machine);
        call_within(&for_thread, &for_thread.config.hooks.on_stop);
    })
}

/// Calls a hook with the runtime as the current one: on tokio it may spawn tasks.
fn call_within(scheduler: &Arc<Scheduler>, hook: &Option<Hook>) {
    if hook.is_some() {
        let _current = context::push_runtime(SchedulerRef::new(scheduler.clone()));
        call(hook);
    }
}

/// Makes sure that a scheduler with idle processors has a thread at all. A later failure to
/// start a thread then only slows it down.
pub(crate) fn start_first_machine(scheduler: &Arc<Scheduler>) -> io::Result<()> {
    let Some(id) = scheduler.idle.count_machine() else { return Ok(()) };
    let result = spawn_thread(scheduler, &Machine::new(id));
    if result.is_err() {
        scheduler.idle.uncount_machine(id);
    }
    result
}
