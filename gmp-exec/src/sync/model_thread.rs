//! Parking under the model checkers, made of a lock and a condition variable.
//!
//! The checkers' own parking is not usable. loom loses an unpark of a thread that waits for a lock.
//! shuttle wakes parked threads for no reason, as often as it runs them, which hides lost wake-ups.
//! There is no clock either: a timed park ends when a thread unparks it, unless its time is zero.

use std::time::Duration;

use super::{Arc, Condvar, Mutex, thread_local};

/// A handle for unparking a thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread(Arc<Parker>);

#[derive(Debug, Default)]
struct Parker {
    token: Mutex<bool>,
    given: Condvar,
}

thread_local! {
    static CURRENT: Thread = const { Thread::new() };
}

impl Thread {
    fn new() -> Thread {
        Thread(Arc::default())
    }

    pub(crate) fn unpark(&self) {
        *self.0.token.lock() = true;
        self.0.given.notify_one();
    }
}

pub(crate) fn current() -> Thread {
    CURRENT.with(Thread::clone)
}

pub(crate) fn park() {
    let Thread(parker) = current();
    let mut token = parker.token.lock();
    while !*token {
        token = parker.given.wait(token);
    }
    *token = false;
}

pub(crate) fn park_timeout(limit: Duration) {
    if limit.is_zero() { super::thread::yield_now() } else { park() }
}

/// Lets other threads run.
pub(crate) fn sleep(_: Duration) {
    super::thread::yield_now();
}
