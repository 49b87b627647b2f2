//! Running a closure on the machine that comes across it.

use std::time::Instant;

use crate::sched::handoff;
use crate::sched::local::Local;
use crate::sched::poll::poll;
use crate::sched::shutdown::last_poll::Outside;
use crate::sched::state::closures::SHORT;
use crate::sched::state::machine::ownership::Region;
use crate::task::Runnable;

/// Runs a closure, which has a place, on a machine that holds a processor.
pub(in crate::sched) fn execute(local: &Local, task: Runnable) {
    let scheduler = &local.scheduler;
    let has_place = task.metadata().take_permit();
    debug_assert!(has_place, "a closure without a place is in line, and in no queue");
    let not_awaited = task.metadata().may_be_abandoned().then(|| scheduler.all_machines.do_not_await(&local.machine));
    let outside = Outside::begin(local);
    if scheduler.closures.length.is_long() {
        run_without_processor(local, task);
    } else {
        run_with_processor(local, task);
    }
    drop(outside);
    drop(not_awaited);
    if let Some(next) = scheduler.closures.permits.release_to_next() {
        scheduler.submit_permitted(next);
    }
}

/// The processor goes on first, as that of a known hog: where closures are long, each would make others wait for sysmon.
fn run_without_processor(local: &Local, task: Runnable) {
    let since = Instant::now();
    if local.scheduler.has_waiting_work(local) {
        handoff::hand_off(local);
    }
    poll(local, task, Region::Blocking);
    local.scheduler.closures.length.note(since.elapsed() > SHORT);
}

fn run_with_processor(local: &Local, task: Runnable) {
    let scheduler = &local.scheduler;
    // Without sysmon the closure gives the processor on itself, as a blocking section.
    if scheduler.config.sysmon && scheduler.has_waiting_work(local) {
        scheduler.sysmon.look_soon();
    }
    // If it is long, sysmon takes the processor and says so.
    poll(local, task, Region::Blocking);
}
