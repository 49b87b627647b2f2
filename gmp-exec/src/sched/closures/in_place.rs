//! Running a closure on the machine that finds it: short closures cost a queue operation, not two
//! changes of thread.

use crate::sched::closures::release_closure_permit;
use crate::sched::handoff;
use crate::sched::local::Local;
use crate::sched::run::poll::run_closure;
use crate::sched::shutdown::last_poll::Outside;
use crate::sched::state::all_machines::await_again;
use crate::task::Runnable;

/// Runs a closure, which has a permit, on a machine that holds a processor.
pub(in crate::sched) fn execute(local: &Local, task: Runnable) {
    let scheduler = &local.scheduler;
    let has_permit = task.metadata().take_permit();
    debug_assert!(has_permit, "a closure without a permit waits for one, and is in no queue");
    if task.metadata().may_be_abandoned() {
        scheduler.all_machines.do_not_await(&local.machine);
    }
    let outside = Outside::begin(local);
    local.machine.running.set_closure(true);
    // Without sysmon the closure itself is a blocking section that hands off the processor.
    if scheduler.config.sysmon && handoff::has_work_nearby(local) {
        scheduler.sysmon.call();
    }
    // If the closure is long, sysmon takes the processor.
    run_closure(local, task);
    local.machine.running.set_closure(false);
    drop(outside);
    // If the closure was aborted, its function has not run.
    await_again();
    release_closure_permit(scheduler);
}
