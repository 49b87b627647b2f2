//! The work for a watched task at its events. Every function is cold: nearly all tasks are not
//! watched.
//!
//! A task is watched if its runtime has hooks, or if it has a name, which must be forgotten at its
//! end. The hooks of a poll are called in tokio's order: before the poll; at the end of the task,
//! when its `JoinHandle` is ready and was woken; after the poll. async-task makes the handle ready,
//! and frees the header, before `Runnable::run` returns, and does not tell whether the task has
//! ended. So the future's wrapper leaves a note when it has dropped the future, and the runner
//! reads the note after the run.

pub(in crate::task) mod hooks;
pub(in crate::task) mod names;
pub(in crate::task) mod unhandled_panic;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::sync::Arc;
use crate::task::cell::future::cancel;
use crate::task::cell::header::{Header, Runnable};
use crate::task::watch::hooks::{TaskHooks, TaskMeta};

thread_local! {
    /// Whether the innermost run of a watched task on this thread has dropped the task's future.
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
}

/// The task is about to be queued for the first time. A panic of the hook is told to the caller of
/// the spawn, as on tokio, and the task, which no caller has a handle of, is cancelled.
#[cold]
pub(in crate::task) fn spawned(runnable: Runnable) -> Runnable {
    let task = runnable.metadata();
    // As on tokio, closures are reported at their end only.
    let Some(hooks) = task.home.hooks().filter(|_| !task.is_closure()) else { return runnable };
    match catch_unwind(AssertUnwindSafe(|| hooks.spawned(&TaskMeta::of(task)))) {
        Ok(()) => runnable,
        Err(payload) => {
            cancel(runnable);
            resume_unwind(payload)
        }
    }
}

/// The task's future has been dropped.
#[cold]
pub(in crate::task) fn dropped(task: &Header) {
    names::forget(task.id);
    HAS_ENDED.set(true);
}

/// Polls a task. `latency`: how long the task has been scheduled, if that was measured.
#[cold]
pub(crate) fn poll(task: Runnable, latency: Option<Duration>) {
    let Some(hooks) = hooks_of(&task) else { return run_plain(task) };
    let meta = TaskMeta::of(task.metadata()).with_latency(latency);
    hooks.polling(&meta);
    run_hooked(task, &hooks);
    hooks.polled(&meta);
}

/// Polls a task of a `LocalSet`. That of a local runtime may have hooks.
#[inline]
pub(in crate::task) fn poll_local(task: Runnable) {
    if task.metadata().is_watched() {
        poll(task, None);
    } else {
        task.run();
    }
}

/// Runs a closure, or a task that is to be dropped.
pub(crate) fn run(task: Runnable) {
    match hooks_of(&task) {
        None => run_plain(task),
        Some(hooks) => run_hooked(task, &hooks),
    }
}

fn hooks_of(task: &Runnable) -> Option<Arc<TaskHooks>> {
    let header = task.metadata();
    if header.is_watched() { header.home.hooks().cloned() } else { None }
}

fn run_plain(task: Runnable) {
    task.run();
}

/// The destructor of an output, or a foreign waker, may run other tasks between the note and the
/// end of the run, so the note of the run around this one is kept.
#[cold]
fn run_hooked(task: Runnable, hooks: &TaskHooks) {
    let meta = TaskMeta::of(task.metadata());
    let around = HAS_ENDED.replace(false);
    task.run();
    if HAS_ENDED.replace(around) {
        hooks.ended(&meta);
    }
}
