//! Threads under the model checkers: parking, made of a lock and a condition variable.
//!
//! Neither checker's own will do. loom forgets an unpark that reaches a thread which waits for a
//! lock. shuttle wakes parked threads for no reason, as often as it runs them, and so hides the
//! wake-ups that we lose. There is no clock either: a timed park ends when somebody ends it, unless
//! its time is up already.

use std::time::Duration;

use super::{Arc, Condvar, Mutex, thread_local};

/// Stands for a thread, to be unparked.
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

/// Lets the others run.
pub(crate) fn sleep(_: Duration) {
    super::thread::yield_now();
}
