//! The end of a runtime because one of its tasks has panicked
//! ([`UnhandledPanic::ShutdownRuntime`](crate::task::UnhandledPanic)), on the current-thread
//! flavour.
//!
//! The panic is found in the poll of the task, on the thread that drives the runtime. That thread
//! shuts the runtime down at once, and cancels the tasks in the queue of its processor, so that
//! none of them is polled again. It panics when the poll has ended, and wakes the other threads
//! inside of `block_on`, which panic, too. The flag is set before they are notified, and they
//! listen before they read the flag.

use crate::context;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown;
use crate::sched::submit::wake::notify_waiting;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::task::{Runnable, cancel};

pub(crate) const RUNTIME_SHUT_DOWN: &str =
    "a spawned task panicked and the runtime is configured to shut down on unhandled panic";

/// A task of this runtime has panicked.
pub(crate) fn note_panic(scheduler: &Arc<Scheduler>) {
    if !scheduler.config.unhandled_panic.shuts_down() {
        return;
    }
    scheduler.has_task_panicked.store(true, Release);
    shutdown::begin(scheduler);
    while let Some(task) = next_here(scheduler) {
        cancel(task);
    }
    fence(SeqCst);
    notify_waiting(scheduler);
}

/// On a thread inside of `block_on`: panics if a panic of a task has ended the runtime.
pub(in crate::sched) fn panic_if_task_has(scheduler: &Scheduler) {
    if scheduler.has_task_panicked.load(Acquire) {
        std::panic::panic_any(RUNTIME_SHUT_DOWN);
    }
}

/// Takes a task from this thread's queue.
fn next_here(scheduler: &Arc<Scheduler>) -> Option<Runnable> {
    context::with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler))?;
        let guard = local.enter();
        guard.held().and_then(|held| held.processor.pop_oldest(&held.proof))
    })
}
