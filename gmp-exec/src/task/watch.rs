//! What is done for a watched task at its events. Every function is cold: nearly all tasks are not
//! watched.
//!
//! A task is watched if its runtime has hooks, or if it has a name, which must be forgotten at its
//! end.

use super::header::Header;
use super::names;

/// The task is about to be queued for the first time.
#[cold]
pub(super) fn spawned(task: &Header) {
    // As on tokio, closures are reported at their end only.
    if let Some(hooks) = task.home.hooks().filter(|_| !task.is_closure()) {
        hooks.spawned(task);
    }
}

#[cold]
pub(super) fn before_poll(task: &Header) {
    if let Some(hooks) = task.home.hooks().filter(|_| !task.is_closure()) {
        hooks.polling(task);
    }
}

#[cold]
pub(super) fn after_poll(task: &Header) {
    if let Some(hooks) = task.home.hooks().filter(|_| !task.is_closure()) {
        hooks.polled(task);
    }
}

/// The task's future has been dropped.
#[cold]
pub(super) fn ended(task: &Header) {
    if let Some(hooks) = task.home.hooks() {
        hooks.ended(task);
    }
    names::forget(task.id);
}
