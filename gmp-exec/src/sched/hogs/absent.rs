//! Polls that go on without a processor. sysmon watches them (`sysmon::absent`), and counts those
//! that compute (`state::computing`).

use crate::sched::hogs::{submit_permitted, time_slice};
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::Relaxed;

/// This turn of the machine is without a processor from now on: sysmon looks at it.
pub(in crate::sched) fn list(scheduler: &Scheduler, machine: &Arc<Machine>, turn: u64) {
    let has_watcher = scheduler.config.sysmon && scheduler.sysmon.running.load(Relaxed);
    if has_watcher && machine.absence.begin(turn) {
        scheduler.sysmon.absent.lock().push(machine.clone());
    }
}

/// Counts the polls that compute anew. Hogs that find room because of it run.
pub(in crate::sched) fn count(scheduler: &Arc<Scheduler>) {
    scheduler.computing.limit(&scheduler.hogs).into_iter().for_each(|task| submit_permitted(scheduler, task));
}

/// The machine has ended a poll without a processor. If the poll computed, a hog that waits may find room.
pub(in crate::sched) fn end(local: &Local) {
    local.machine.absence.end(local.machine.ownership.turn());
    time_slice::end_long(local);
    if local.scheduler.hogs.is_any_waiting() {
        count(&local.scheduler);
    }
}
