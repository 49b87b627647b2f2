//! The task that this thread polls: its id, its waker, its budget.

use std::panic::Location;
use std::ptr;
use std::task::Waker;

use super::CURRENT;
use crate::task::coop::{self, Budget};
use crate::task::{Header, Id};

/// Makes a task current until the guard is dropped.
#[inline]
pub(crate) fn enter_task(header: &Header, waker: &Waker) -> LeaveTask {
    CURRENT.with(|current| LeaveTask {
        header: current.header.replace(header),
        id: current.task_id.replace(header.id.as_u64()),
        waker: current.task_waker.replace(waker.data()),
        budget: current.budget.replace(Some(coop::UNITS)),
    })
}

/// Calls `f` while notes of waits go into the header of a future of `block_on`.
pub(crate) fn with_header<T>(header: &Header, f: impl FnOnce() -> T) -> T {
    struct Reset(*const Header);
    impl Drop for Reset {
        fn drop(&mut self) {
            CURRENT.with(|current| current.header.set(self.0));
        }
    }
    let _reset = Reset(CURRENT.with(|current| current.header.replace(header)));
    f()
}

pub(crate) struct LeaveTask {
    header: *const Header,
    id: u64,
    waker: *const (),
    budget: Budget,
}

impl Drop for LeaveTask {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.header.set(self.header);
            current.task_id.set(self.id);
            current.task_waker.set(self.waker);
            current.budget.set(self.budget);
        });
    }
}

/// Makes a task's id current until the guard is dropped, while the task's future or output is
/// dropped.
pub(crate) fn enter_id(id: Id) -> LeaveId {
    LeaveId(CURRENT.try_with(|current| current.task_id.replace(id.as_u64())).unwrap_or(0))
}

#[must_use]
pub(crate) struct LeaveId(u64);

impl Drop for LeaveId {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.task_id.set(self.0));
    }
}

/// The id of the running task; 0 outside of a task.
pub(crate) fn current_task_id() -> u64 {
    CURRENT.try_with(|current| current.task_id.get()).unwrap_or(0)
}

/// Whether `waker` is the running task's own.
#[inline]
pub(crate) fn is_current_task(waker: &Waker) -> bool {
    CURRENT.with(|current| !waker.data().is_null() && ptr::eq(current.task_waker.get(), waker.data()))
}

#[inline]
pub(crate) fn budget() -> Budget {
    CURRENT.try_with(|current| current.budget.get()).unwrap_or(None)
}

#[inline]
pub(crate) fn set_budget(budget: Budget) {
    let _ = CURRENT.try_with(|current| current.budget.set(budget));
}

/// Sets the place of the leaf future that is being polled.
#[inline]
pub(crate) fn set_leaf(place: Option<&'static Location<'static>>) {
    let _ = CURRENT.try_with(|current| current.leaf.set(place));
}

pub(crate) fn take_leaf() -> Option<&'static Location<'static>> {
    CURRENT.try_with(|current| current.leaf.take()).unwrap_or(None)
}

/// Returns the next id of this thread's block of ids.
pub(crate) fn next_id(next_block: impl FnOnce() -> u64, block: u64) -> u64 {
    let local = CURRENT.try_with(|current| {
        if current.next_id.get() == current.last_id.get() {
            return None;
        }
        let id = current.next_id.get();
        current.next_id.set(id + 1);
        Some(id)
    });
    if let Ok(Some(id)) = local {
        return id;
    }
    let first = next_block();
    let _ = CURRENT.try_with(|current| {
        current.next_id.set(first + 1);
        current.last_id.set(first + block);
    });
    first
}
