//! Running closures on threads that never poll a task.

use std::io;

use crate::context;
use crate::observe::PoolThread;
use crate::sched::closures::{release_closure_permit, say_dropped};
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::all_machines::await_again;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::{say_no_thread, start_thread};
use crate::sched::submit::wake::{interrupt_sleeper, submit_permitted};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::{Id, Place, Runnable, cancel, drop_now, run_watched};

/// Gives a closure, which has a permit, to a thread of the pool.
///
/// # Errors
///
/// There is no thread. The closure was dropped, and the caller must release its permit.
pub(super) fn submit_to_pool(scheduler: &Arc<Scheduler>, closure: Runnable) -> io::Result<()> {
    let id = closure.metadata().id;
    match scheduler.closures.pool.submit(closure) {
        Ok(false) => {}
        Ok(true) => return start_pool_thread(scheduler, id),
        Err(closure) => cancel(closure),
    }
    Ok(())
}

/// `id`: that of the closure for which the thread is to be started.
fn start_pool_thread(scheduler: &Arc<Scheduler>, id: Id) -> io::Result<()> {
    if let Err(error) = check_head_room(scheduler)
        && scheduler.closures.pool.leave_to_others()
    {
        say_no_thread(scheduler, &error);
        return Ok(());
    }
    let Err(error) = start_thread(scheduler, Machine::new(0), serve_pool) else { return Ok(()) };
    let mut is_dropped = false;
    for closure in scheduler.closures.pool.not_started() {
        if scheduler.is_shutdown() {
            cancel(closure);
        } else if closure.metadata().id == id {
            drop_now(closure);
            is_dropped = true;
        } else {
            say_dropped(closure.metadata().location, &error);
            drop_now(closure);
            release_closure_permit(scheduler);
        }
    }
    if is_dropped { Err(error) } else { Ok(()) }
}

fn serve_pool(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) {
    let _entered = context::enter_blocking_thread(SchedulerRef::new(scheduler.clone()));
    let observed = PoolThread::default();
    machine.running.set_closure(true);
    scheduler.closures.pool.started();
    while let Some(first) = scheduler.closures.pool.next(scheduler.config.threads.keep_alive) {
        let mut closure = Some(first);
        while let Some(current) = closure {
            run_in_pool(scheduler, current, machine, &observed);
            closure = pass_permit(scheduler);
        }
    }
}

fn run_in_pool(scheduler: &Scheduler, closure: Runnable, machine: &Arc<Machine>, observed: &PoolThread) {
    closure.metadata().take_permit();
    if closure.metadata().may_be_abandoned() {
        scheduler.all_machines.do_not_await(machine);
    }
    observed.before_closure(scheduler, closure.metadata());
    run_on(machine, closure);
    observed.after_closure();
    // If the closure was aborted, its function has not run.
    await_again();
}

/// Runs a closure on a thread that never has a processor, so nothing can be taken. A drop of the runtime
/// that takes long can say for which closure it waits.
pub(super) fn run_on(machine: &Machine, closure: Runnable) {
    machine.running.write(closure.metadata().id, closure.metadata().location);
    machine.ownership.begin(Region::Blocking);
    run_watched(closure);
    let _ = machine.ownership.enter();
}

/// Releases the permit of the closure that has ended. Returns the closure that gets it, if this
/// thread may run that one.
fn pass_permit(scheduler: &Arc<Scheduler>) -> Option<Runnable> {
    let next = scheduler.closures.permits.release_to_next();
    if scheduler.config.is_current_thread() {
        // The thread that drives the runtime may be waiting for this closure before it advances
        // a paused clock.
        fence(SeqCst);
        interrupt_sleeper(scheduler);
    }
    let next = next?;
    if next.metadata().place() == Place::Machine {
        submit_permitted(scheduler, next);
        return None;
    }
    Some(next)
}
