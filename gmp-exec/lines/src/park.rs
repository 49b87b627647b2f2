//! Parking as std does it on Linux: one word for each thread, with one write by the thread that
//! parks, one by the thread that unparks it, and one by the former when it goes on.

use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::time::Duration;

use shuttle::thread_local;

use crate::sync::atomic::AtomicU32;
use crate::waiting;

const EMPTY: u32 = 0;
const UNPARKED: u32 = 1;

/// A handle for unparking a thread.
#[derive(Clone, Debug)]
pub struct Thread(Arc<AtomicU32>);

thread_local! {
    static CURRENT: Thread = const { Thread::new() };
}

impl Thread {
    fn new() -> Thread {
        Thread(Arc::new(AtomicU32::new(EMPTY)))
    }

    /// As std's.
    pub fn unpark(&self) {
        self.0.swap(UNPARKED, AcqRel);
        waiting::release_all(self.address());
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

/// As std's.
pub fn current() -> Thread {
    CURRENT.with(Thread::clone)
}

/// As std's.
pub fn park() {
    let this = current();
    while this.0.swap(EMPTY, Acquire) != UNPARKED {
        waiting::wait_on(this.address());
    }
}

/// There is no clock: a timed park ends when a thread unparks it, unless its time is zero.
pub fn park_timeout(limit: Duration) {
    if limit.is_zero() { super::step() } else { park() }
}

/// Lets other threads run.
pub fn sleep(_: Duration) {
    super::step();
}
