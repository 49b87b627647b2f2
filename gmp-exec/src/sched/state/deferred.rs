//! Futures that have yielded on the current-thread flavour: woken once all others have had a turn.
//!
//! Wakers, not tasks: what yields may be the root future, a task of a `LocalSet`, or a future with
//! a waker of its own inside of any of them. The newest goes first, because tokio's do, and the
//! order of a single thread is one that programs see.

use std::cell::{Cell, RefCell};
use std::task::Waker;

use crate::contain::contain;

#[derive(Debug, Default)]
pub(crate) struct Deferred {
    wakers: RefCell<Vec<Waker>>,
    /// Inside of a `block_on` that does not drive the runtime: nobody would wake them before it has
    /// ended.
    is_suspended: Cell<bool>,
}

impl Deferred {
    /// A future that yields twice in a poll is woken once. `false`: the caller has to wake it.
    #[must_use]
    pub(crate) fn push(&self, waker: &Waker) -> bool {
        if self.is_suspended.get() {
            return false;
        }
        if self.wakers.borrow().last().is_some_and(|last| last.will_wake(waker)) {
            return true;
        }
        // Not while the list is borrowed: it may be anybody's waker.
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

    /// Also those that are added meanwhile.
    pub(crate) fn wake_all(&self) {
        while let Some(waker) = self.pop() {
            contain(|| waker.wake());
        }
    }

    fn pop(&self) -> Option<Waker> {
        self.wakers.borrow_mut().pop()
    }
}
