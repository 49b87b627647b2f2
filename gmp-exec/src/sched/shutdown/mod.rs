//! The end of a runtime: no task is lost, every future is dropped, and a caller that does not want
//! to wait need not.
//!
//! Shutdown first closes all ways in, and then cancels the tasks that are inside. Closing: the
//! global queue refuses tasks, the registry refuses new waiters, idle machines are told to exit. A
//! task that is woken during that time is left to the thread that shuts down. If the waking thread
//! cancelled the task, its future would be dropped under locks that the waker's caller may hold,
//! and dropped futures that wake each other would pile up on one stack. Only after all that does
//! the submitter cancel its task itself: a new task, or a task that was woken before but is queued
//! only then.
//!
//! Cancelling: the thread that shuts down drains the idle processors. Busy processors are drained
//! by their machines, which look at the flag before every poll. A machine in a poll or a blocking
//! section may be stuck there until something in its own ring has run, or was cancelled: sysmon
//! takes its processor and drains it. `wait` waits for such machines, or not.

pub(crate) mod last_poll;
pub(crate) mod task_panic;

use std::time::{Duration, Instant};

use crate::context::{self, Entered};
use crate::observe::{self, Event};
use crate::sched::local::Local;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::shutdown::last_poll::end_if_last;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::sync::{Arc, thread};
use crate::sys::membarrier;
use crate::task::{StuckBy, cancel};

/// How soon to look again at machines that were in scheduler code: at first, and at most. Most
/// leave within microseconds.
const STRAGGLER_INTERVALS: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];
/// When the drop of a runtime has waited for so long, it says for what.
const LONG: Duration = Duration::from_secs(5);

/// Cancels every task that is not inside a poll, and tells all machines to exit. Returns at
/// once; may be called more than once.
pub(crate) fn begin(scheduler: &Arc<Scheduler>) {
    if scheduler.is_shutdown.swap(true, SeqCst) {
        return;
    }
    scheduler.global.close();
    scheduler.hogs.close().into_iter().for_each(cancel);
    scheduler.closures.close().into_iter().for_each(cancel);
    dismiss_idle(scheduler);
    scheduler.registry.close();
    while let Some(tasks) = scheduler.global.condemned() {
        tasks.into_iter().for_each(cancel);
    }
    scheduler.last_poll.close();
    end_if_last(scheduler);
    scheduler.sysmon.stop();
    observe::on_shutdown(&scheduler.observers);
}

/// Waits until every thread of the runtime has ended, but no longer than `limit`.
pub(crate) fn wait(scheduler: &Scheduler, limit: Option<Duration>) {
    let deadline = Instant::now().checked_add(limit.unwrap_or(LONG));
    if !scheduler.all_machines.wait_empty(deadline) && limit.is_none() {
        // A task that sleeps for ever would otherwise end a test, or a program, in silence.
        observe::on_long_wait(&scheduler.all_machines.awaited(), LONG);
        let _ = scheduler.all_machines.wait_empty(None);
    }
    // Processors that came back to the idle list after the last machine had looked there.
    drain_late(scheduler);
    scheduler.all_machines.join(limit.and(deadline));
}

/// The last act of sysmon: takes the processors of machines that don't come to see the flag,
/// until no machine holds one.
pub(in crate::sched) fn take_from_stragglers(scheduler: &Arc<Scheduler>) {
    // Futures that are dropped here find the runtime current, as everywhere else, and may not
    // block.
    let _current = context::push_runtime(SchedulerRef::new(scheduler.clone()));
    let _entered = context::set_entered(Entered::Runtime(scheduler.config.flavor));
    let [mut interval, longest] = STRAGGLER_INTERVALS;
    loop {
        let mut machines = scheduler.all_machines.copy();
        // After this barrier, a machine that appears to hold no processor will see the flag
        // before its next poll with one. Without it the appearance may be stale, and the tasks
        // queued at the machine would wait for its poll to end.
        let _ = membarrier::heavy();
        machines.retain(|machine| !take_for_shutdown(scheduler, machine));
        // Processors that were taken while shutdown closed the queues. The machine that lost
        // one may wait for a task that is queued there.
        drain_late(scheduler);
        if machines.is_empty() {
            return;
        }
        thread::park_timeout(interval);
        interval = longest.min(interval * 2);
    }
}

/// Takes the processor of a machine that is not in scheduler code. Returns whether the machine
/// has none now.
fn take_for_shutdown(scheduler: &Scheduler, machine: &Arc<Machine>) -> bool {
    let Some(seen) = machine.ownership.look() else { return machine.ownership.has_no_processor() };
    let stuck = Stuck { machine: machine.clone(), seen, cause: StuckBy::Blocking, since: Instant::now() };
    match stuck.take(scheduler.clock.running_ns()) {
        Some(token) => {
            drain(scheduler, token);
            true
        }
        None => false,
    }
}

fn dismiss_idle(scheduler: &Arc<Scheduler>) {
    let (machines, processors, driver) = scheduler.idle.close();
    fence(SeqCst);
    machines.iter().for_each(|machine| {
        // Does nothing unless this machine sleeps in the netpoll.
        scheduler.netpoll_gate.interrupt(machine);
        machine.unpark();
    });
    processors.into_iter().for_each(|token| drain(scheduler, token));
    drop(driver);
}

/// Cancels all tasks that are queued at a processor. The token is dropped, because the
/// processor will not be needed again.
pub(in crate::sched) fn drain(scheduler: &Scheduler, token: ProcessorToken) {
    let processor = &scheduler.processors[token.index()];
    if processor.has_work() {
        processor.busy.begin(scheduler.clock.running_ns());
        while let Some(task) = scheduler.processors.pop_without_machine(&token) {
            cancel(task);
        }
        processor.busy.end(scheduler.clock.running_ns());
    }
    drop(token);
    scheduler.last_poll.count_drained();
    end_if_last(scheduler);
}

/// Cancels the tasks of processors that came back to the idle list after it was closed.
pub(in crate::sched) fn drain_late(scheduler: &Scheduler) {
    scheduler.idle.reclaim().into_iter().for_each(|token| drain(scheduler, token));
}

/// A machine has seen the flag: drains its processor.
pub(in crate::sched) fn leave(local: &Local) {
    if let Some(token) = local.machine.ownership.release() {
        observe::on(local, Event::Release(&token));
        drain(&local.scheduler, token);
    }
    // Processors of machines that went idle while shutdown closed the queues.
    drain_late(&local.scheduler);
}
