//! The wakers of the leaf futures that a traced poll has met.
//!
//! They are woken when the poll of the task, or that of the future of `block_on`, is over. A
//! combinator whose futures are woken while it polls them, such as `FuturesUnordered`, would leave
//! off after some, and the others would be missing in the trace.

use std::cell::RefCell;
use std::task::Waker;

use crate::contain::contain;

thread_local! {
    /// `None`: no poll is under way on this thread.
    static WAKERS: RefCell<Option<Vec<Waker>>> = const { RefCell::new(None) };
}

/// Wakes the future once the innermost poll under way is over; at once, if there is none.
pub(super) fn wake_later(waker: &Waker) {
    let is_kept = WAKERS.with_borrow_mut(|wakers| wakers.as_mut().map(|wakers| wakers.push(waker.clone())).is_some());
    if !is_kept {
        waker.wake_by_ref();
    }
}

/// A poll of a task, or of the future of `block_on`. May be nested.
pub(super) struct Poll {
    is_outermost: bool,
}

impl Poll {
    pub(super) fn begin() -> Poll {
        let is_outermost = WAKERS.with_borrow_mut(|wakers| {
            let is_outermost = wakers.is_none();
            wakers.get_or_insert_default();
            is_outermost
        });
        Poll { is_outermost }
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        let wakers = WAKERS.with_borrow_mut(|wakers| {
            let woken = wakers.as_mut().map(std::mem::take);
            if self.is_outermost {
                *wakers = None;
            }
            woken
        });
        for waker in wakers.into_iter().flatten() {
            contain(|| waker.wake());
        }
    }
}
