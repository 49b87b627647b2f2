//! The wakers of the leaf futures that a traced poll has met.
//!
//! They are woken when the poll of the task, or that of the future of `block_on`, is over. A
//! combinator whose futures are woken while it polls them, such as `FuturesUnordered`, would stop
//! after some of them, and the others would be missing in the trace.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::contain::contain;

thread_local! {
    /// How many polls are under way on this thread, one within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Whether `WAKERS` has any. Read at the end of every poll, because this has no destructor.
    static HAS_WAKERS: Cell<bool> = const { Cell::new(false) };
    static WAKERS: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) };
}

/// Wakes the future once the innermost poll under way is over; at once, if there is none.
pub(super) fn wake_later(waker: &Waker) {
    if DEPTH.get() == 0 {
        return waker.wake_by_ref();
    }
    WAKERS.with_borrow_mut(|wakers| wakers.push(waker.clone()));
    HAS_WAKERS.set(true);
}

/// A poll of a task, or of the future of `block_on`. May be nested.
pub(super) struct Poll {}

impl Poll {
    #[inline]
    pub(super) fn begin() -> Poll {
        DEPTH.set(DEPTH.get() + 1);
        Poll {}
    }
}

impl Drop for Poll {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if HAS_WAKERS.get() {
            wake_all();
        }
    }
}

#[cold]
fn wake_all() {
    HAS_WAKERS.set(false);
    for waker in WAKERS.take() {
        contain(|| waker.wake());
    }
}
