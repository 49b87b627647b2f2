//! Locks, and waking tasks while no lock is held.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks a mutex, also a poisoned one: code under these locks calls no user code, so a panic can't
/// leave the data half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wakes all tasks, even if one of the wakers panics: the events of the others are edges and won't
/// come again. The panic hook has reported the panic. The thread must survive it, because it is a
/// scheduler's thread and belongs to all tasks.
pub(crate) fn wake_all(woken: &mut Vec<Waker>) {
    for waker in woken.drain(..) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
            // The destructor of the payload may panic as well, and so may that of its payload.
            catch_unwind(AssertUnwindSafe(|| drop(payload))).unwrap_or_else(mem::forget);
        }
    }
}

/// Adds `waker` to the waiting ones, once for each task: a task may be polled any number of times
/// while it waits. Returns a waker that is not needed, for the caller to drop after unlocking.
#[must_use = "dropped after unlocking"]
pub(crate) fn join_once(waiting: &mut Vec<Waker>, waker: Waker) -> Option<Waker> {
    if waiting.iter().any(|other| other.will_wake(&waker)) {
        return Some(waker);
    }
    waiting.push(waker);
    None
}
