//! Locks, and waking who waits without one.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks what a panicking thread can't have left half-done: the closures run under these locks don't call user code.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes everybody, also those behind a waker that panics: their events are edges and won't come again. The panic has been
/// reported by the panic hook; what polls here is a scheduler's thread, which belongs to all tasks and must live on.
pub(crate) fn wake_all(woken: &mut Vec<Waker>) {
    for waker in woken.drain(..) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            // Its destructor may panic as well, and what that panics with, too.
            catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(mem::forget);
        }
    }
}

/// Adds `waker` to those who wait, once only: a task may be polled any number of times while it waits. Returns a waker that
/// is not needed, for the caller to drop without the lock.
#[must_use = "dropped after unlocking"]
pub(crate) fn join_once(waiting: &mut Vec<Waker>, waker: Waker) -> Option<Waker> {
    if waiting.iter().any(|other| other.will_wake(&waker)) {
        return Some(waker);
    }
    waiting.push(waker);
    None
}
