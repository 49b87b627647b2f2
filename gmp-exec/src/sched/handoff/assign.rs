//! Finding a machine for a processor, and what becomes of a processor for which there is none:
//! `max_machines` is reached, the system has no thread to give, or the runtime is shutting down.
//!
//! The tasks of such a processor go to the global queue before it goes on a list. There, running
//! machines find the tasks before they park. They would not always find the tasks in the queue of a
//! processor on a list: not the one in `runnext`, and none if that processor, or their own, retires
//! (sched/README.md §11).

use std::iter;

use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::machine::{Assignment, Machine};
use crate::sched::state::sysmon::calls;
use crate::sched::submit::threads::{say_no_thread, spawn_thread};
use crate::sched::submit::wake::{announce_timer, perform, submit_global, wake_one, wake_spinner};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::Runnable;

/// Assigns a processor to a machine if the processor is needed. Otherwise puts it on the idle list.
pub(in crate::sched) fn assign(scheduler: &Arc<Scheduler>, token: ProcessorToken) {
    let index = token.index();
    if is_needed(scheduler, index) {
        return match scheduler.idle.assign_machine(token) {
            Ok(wake) => perform(scheduler, wake),
            Err(token) => {
                let tasks = take_tasks(scheduler, &token);
                scheduler.idle.put(token);
                attend_to(scheduler, tasks);
            }
        };
    }
    scheduler.processors[index].busy.end(scheduler.clock.running_ns());
    scheduler.idle.put(token);
    fence(SeqCst);
    if is_needed(scheduler, index) {
        wake_one(scheduler);
    } else {
        announce_timer(scheduler, scheduler.processors[index].timers.earliest());
    }
}

/// Whether processor `index` is needed: because work waits, or because no machine sleeps in the
/// netpoll.
fn is_needed(scheduler: &Scheduler, index: usize) -> bool {
    scheduler.processors[index].has_work() || scheduler.has_visible_work() || !scheduler.idle.counts().has_sleeper()
}

/// Makes a machine that `idle` has counted, and lets sysmon start its thread if there is a
/// sysmon (`state::sysmon::starts`).
#[doc(alias = "newm")]
pub(in crate::sched) fn start_machine(scheduler: &Arc<Scheduler>, id: usize, assignment: Assignment) {
    let machine = Machine::new(id);
    machine.assign(assignment);
    match scheduler.sysmon.starts.add(machine) {
        Ok(()) => scheduler.sysmon.calls.add(calls::WOKEN),
        Err(machine) => start_here(scheduler, &machine),
    }
}

/// Starts the thread of a machine. If the system has no thread to give, the processor goes back
/// to the idle list: running machines look there before they park, and sysmon tries again.
pub(in crate::sched) fn start_here(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) {
    let Err(error) = spawn_thread(scheduler, machine) else { return };
    say_no_thread(scheduler, &error);
    if let Some(Assignment::Run { token, spinning }) = machine.take_assignment() {
        let tasks = take_tasks(scheduler, &token);
        scheduler.idle.not_started(token, spinning);
        if scheduler.is_shutdown() {
            // The machines that would look there may all have left.
            drain_late(scheduler);
        }
        attend_to(scheduler, tasks);
    }
}

/// Empties the queue of a processor that no machine has.
fn take_tasks(scheduler: &Scheduler, token: &ProcessorToken) -> Vec<Runnable> {
    scheduler.processors[token.index()].busy.end(scheduler.clock.running_ns());
    iter::from_fn(|| scheduler.processors.pop_without_machine(token)).collect()
}

/// The processor is on a list now, and these tasks were queued at it.
fn attend_to(scheduler: &Arc<Scheduler>, tasks: Vec<Runnable>) {
    if !tasks.is_empty() {
        submit_global(scheduler, tasks);
    }
    // A machine that had found the idle list empty before may have parked since, and no other
    // thread would wake it.
    fence(SeqCst);
    if scheduler.idle.snapshot().spares > 0 {
        wake_spinner(scheduler);
    }
}
