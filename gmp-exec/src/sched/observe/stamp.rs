//! Noting when a task is scheduled, where the builder asks for scheduling latencies.
//!
//! Without them a submission executes no instruction for this: `submit_here` takes the branch that
//! it takes for tasks that a reactor wakes (`AT_SUBMIT` of `state::unusual`). The submitter has the
//! task's `Runnable`, so no other thread writes the stamp; the machine that polls the task reads the
//! stamp (`measure`).

use crate::sched::local::Local;
use crate::sched::observe::record;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::unusual::{COLLECTS, STAMPS};
use crate::task::Runnable;

/// Stamps the task if its turn has come, and records it. Returns the task unless it was collected.
#[cold]
pub(in crate::sched) fn take_detour(
    local: &Local,
    task: Runnable,
    yielded: bool,
    has_processor: bool,
) -> Option<Runnable> {
    // Without a processor the task is refused here, and recorded by `schedule_elsewhere`.
    if has_processor || local.unusual.is_any(COLLECTS) {
        record::schedule(local, &task, yielded);
    }
    if local.unusual.is_any(STAMPS) {
        let n = local.submissions.get().wrapping_add(1);
        local.submissions.set(n);
        stamp(&local.scheduler, &task, n);
    }
    if !local.unusual.is_any(COLLECTS) {
        return Some(task);
    }
    local.ready.borrow_mut().push(task);
    None
}

/// Stamps the task if the scheduling with number `n` is one of those that are measured.
pub(in crate::sched) fn stamp(scheduler: &Scheduler, task: &Runnable, n: u32) {
    if scheduler.measuring.is_sampled(n) {
        task.metadata().progress.stamp(scheduler.measuring.now());
    }
}
