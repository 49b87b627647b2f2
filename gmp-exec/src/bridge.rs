//! State that the drop-in's copy of tokio's `sync` and `io` shares with this executor. Not a public
//! interface.
//!
//! Those types take units of the running task's budget, and refuse to block a thread that runs
//! tasks. This executor keeps both facts, so those types ask here. A second set of thread-locals
//! would have to be kept in step at each poll.

use std::task::Waker;

use crate::context::{self, Entered};

/// Units left to the running task; `None` where nothing is limited.
#[inline]
pub fn budget() -> Option<u8> {
    context::budget()
}

/// Sets the value that [`budget`] returns on this thread.
#[inline]
pub fn set_budget(units: Option<u8>) {
    context::set_budget(units);
}

/// Wakes a future whose budget is used up, after other tasks have been polled.
pub fn defer(waker: &Waker) {
    context::defer_forced(waker);
}

/// Whether this thread runs tasks, so that blocking it on another future is forbidden.
#[inline]
pub fn is_entered() -> bool {
    context::entered() != Entered::Nothing
}

/// A random number from the seed of the runtime; `None` where there is no seed.
pub fn seeded_random() -> Option<u32> {
    context::seeded_random()
}
