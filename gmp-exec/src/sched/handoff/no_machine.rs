//! A processor for which no machine is available: `max_machines` is reached, the system has no
//! thread to give, or the runtime is shutting down.
//!
//! Its tasks go to the global queue before it goes on a list. There, running machines find the
//! tasks before they park. They would not always find the tasks in the queue of a processor on a
//! list: not the one in `runnext`, and none if that processor, or their own, retires
//! (sched/README.md §11).
#![allow(unsafe_code, reason = "makes an owner proof")]

use std::iter;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sched::submit::wake::{submit_global, wake_spinner};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::Runnable;

/// Returns a processor that may have tasks.
#[cold]
pub(super) fn put(scheduler: &Arc<Scheduler>, token: ProcessorToken) {
    let tasks = take_tasks(scheduler, &token);
    scheduler.idle.put(token);
    attend_to(scheduler, tasks);
}

/// Empties the queue of a processor that no machine has.
pub(in crate::sched) fn take_tasks(scheduler: &Scheduler, token: &ProcessorToken) -> Vec<Runnable> {
    let processor = &scheduler.processors[token.index()];
    processor.busy.end(scheduler.clock.running_ns());
    // SAFETY: the token is the right to be the processor's only owner.
    let proof = unsafe { OwnerProof::new() };
    iter::from_fn(|| processor.pop(&proof)).collect()
}

/// The processor is on a list now, and these tasks were queued at it.
pub(in crate::sched) fn attend_to(scheduler: &Arc<Scheduler>, tasks: Vec<Runnable>) {
    if !tasks.is_empty() {
        submit_global(scheduler, tasks);
    }
    send_for_spare(scheduler);
}

/// A machine that had found the idle list empty before may have parked since, and no other
/// thread would wake it.
fn send_for_spare(scheduler: &Arc<Scheduler>) {
    fence(SeqCst);
    if scheduler.idle.snapshot().spares > 0 {
        wake_spinner(scheduler);
    }
}
