//! Closures that are found while the runtime is shutting down.

use crate::context;
use crate::sched::closures::pool::run_on;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::machine::Machine;
use crate::sched::submit::threads::start_thread;
use crate::sync::{Arc, Mutex};
use crate::task::{Runnable, drop_now, run_watched};

/// Runs a closure although the runtime is shutting down. It does so if the closure must not be
/// dropped, or if there is a permit for it, so that it would have begun if shutdown had begun a
/// moment later. The closure runs on a thread of its own: the calling thread may be sysmon,
/// which other threads wait for, or a caller of `shutdown_background`, which must not wait.
pub(crate) fn finish(scheduler: &Arc<Scheduler>, task: Runnable) {
    let must_finish = task.metadata().must_finish();
    let has_permit = task.metadata().take_permit();
    if !must_finish && !has_permit && !scheduler.closures.permits.try_acquire() {
        return drop_now(task);
    }
    let task = Arc::new(Mutex::new(Some(task)));
    let for_thread = task.clone();
    let started = start_thread(scheduler, Machine::new(0), move |scheduler, machine| {
        let _entered = context::enter_blocking_thread(SchedulerRef::new(scheduler.clone()));
        machine.running.set_closure(true);
        take_and(&for_thread, |task| run_on(machine, task));
        finished(scheduler, must_finish);
    });
    if started.is_err() {
        take_and(&task, |task| if must_finish { run_watched(task) } else { drop_now(task) });
        finished(scheduler, must_finish);
    }
}

fn finished(scheduler: &Scheduler, must_finish: bool) {
    if !must_finish {
        // No closure waits any more.
        drop(scheduler.closures.permits.release_to_next());
    }
}

fn take_and(task: &Mutex<Option<Runnable>>, f: impl FnOnce(Runnable)) {
    let task = task.lock().take();
    if let Some(task) = task {
        f(task);
    }
}
