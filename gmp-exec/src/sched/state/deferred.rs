//! Futures that have yielded on the current-thread flavour. They are woken once all other tasks
//! have had a turn.
//!
//! The list holds wakers and not tasks: the future that yields may be the root future, a task of a
//! `LocalSet`, or a future with its own waker inside any of these. The newest goes first, as on
//! tokio, because programs observe the order on a single thread.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::contain::contain;

#[derive(Debug, Default)]
pub(crate) struct Deferred {
    wakers: RefCell<Vec<Waker>>,
    /// The thread is inside a `block_on` that does not drive the runtime. No thread would wake the
    /// wakers before that `block_on` has ended.
    is_suspended: Cell<bool>,
}

impl Deferred {
    /// Adds a waker, unless it is the last one already: a future that yields twice in a poll is
    /// woken once. `false`: the list is suspended, and the caller has to wake the future.
    #[must_use]
    pub(crate) fn push(&self, waker: &Waker) -> bool {
        if self.is_suspended.get() {
            return false;
        }
        if self.wakers.borrow().last().is_some_and(|last| last.will_wake(waker)) {
            return true;
        }
        // Not while the list is borrowed: the clone may run foreign code, which may yield.
        let waker = waker.clone();
        self.wakers.borrow_mut().push(waker);
        true
    }

    /// Returns whether it was suspended before.
    pub(crate) fn suspend(&self, is_suspended: bool) -> bool {
        self.is_suspended.replace(is_suspended)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.wakers.borrow().is_empty()
    }

    /// Wakes all, including the wakers that are added by these.
    pub(crate) fn wake_all(&self) {
        while let Some(waker) = self.pop() {
            contain(|| waker.wake());
        }
    }

    fn pop(&self) -> Option<Waker> {
        self.wakers.borrow_mut().pop()
    }
}
