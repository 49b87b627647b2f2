//! The events of a task's wakers that tokio-console counts (feature `tracing`): tokio 1.54.1's,
//! with the id of the task's span.
//!
//! A task that has a span is observed. Its polls get a waker with [`LOUD`], and so do the clones of
//! that waker. The registry's waker stays silent: it belongs to no future, and the registry clones
//! it while it holds a lock, where no subscriber may be called.
//!
//! *Yields.* On the multi-thread flavour a task that yields is woken during its poll. In the
//! console that would be a task that wakes itself all the time. So the events are those of tokio: a
//! waker is cloned in the poll, and woken after it, outside of the task's span. Without the clone
//! the console would show, for a moment, a task that waits and that no waker can reach.
#![allow(unsafe_code, reason = "a table of a waker's functions")]

use std::cell::Cell;
use std::task::{RawWaker, RawWakerVTable, Waker};

use crate::contain::contain;
use crate::context;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::task::console::span::SpanId;
use crate::task::observer::{self, Observer};

thread_local! {
    /// A future that yields is being woken.
    static IS_YIELDING: Cell<bool> = const { Cell::new(false) };
}

/// A `static`, because its address tells loud wakers from silent ones.
static LOUD: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// What the wakers of one task report.
#[derive(Debug, Default)]
pub(in crate::task) struct WakerEvents {
    /// A copy of the id: the span lives as long as the future, and a waker may live longer.
    span: Option<u64>,
    /// The task has yielded in the poll that is under way. Written by the thread that polls.
    has_yielded: AtomicBool,
}

impl WakerEvents {
    pub(in crate::task) fn of(span: &SpanId) -> WakerEvents {
        WakerEvents { span: span.as_u64(), has_yielded: AtomicBool::new(false) }
    }

    /// The functions of the waker for the polls.
    pub(in crate::task) fn table(&self, silent: &'static RawWakerVTable) -> &'static RawWakerVTable {
        if self.span.is_some() { &LOUD } else { silent }
    }

    fn end_poll(&self) {
        if self.has_yielded.swap(false, Relaxed) {
            self.emit("waker.wake");
        }
    }

    /// The subscriber may be any code. Its panic must not reach the caller, nor prevent a wake-up.
    fn emit(&self, op: &'static str) {
        if let Some(span) = self.span {
            contain(|| tracing::trace!(target: "tokio::task::waker", op, task.id = span));
        }
    }
}

/// Whether this is [`LOUD`].
#[inline]
pub(in crate::task) fn is_loud(table: &'static RawWakerVTable) -> bool {
    std::ptr::eq(table, &LOUD)
}

/// Wakes a future that yields in its poll.
pub(crate) fn wake_yielding(waker: &Waker) {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IS_YIELDING.set(self.0);
        }
    }
    let _reset = Reset(IS_YIELDING.replace(true));
    waker.wake_by_ref();
}

/// The poll of the task with this waker has ended.
pub(in crate::task) fn end_poll(waker: &Waker) {
    if let Some(observer) = Observer::of(waker) {
        observer.events.end_poll();
    }
}

/// Whether the task of `observer` yields: a wake-up by its own poll, because a future in it yields.
fn yields(observer: &Observer) -> bool {
    let yields = IS_YIELDING.get() && context::is_current_task(observer.view());
    if yields && !observer.events.has_yielded.swap(true, Relaxed) {
        observer.events.emit("waker.clone");
    }
    yields
}

/// # Safety
///
/// `data` is that of a waker of an [`Observer`], which owns a reference. The same holds for the
/// three functions below, as `RawWakerVTable` promises.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: as of this function.
    unsafe { observer::get(data) }.events.emit("waker.clone");
    // SAFETY: as of this function.
    unsafe { observer::add_waker(data) };
    RawWaker::new(data, &LOUD)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: as of this function.
    let observer = unsafe { observer::get(data) };
    observer.events.emit(if yields(observer) { "waker.drop" } else { "waker.wake" });
    // SAFETY: as of this function.
    unsafe { observer::wake(data) };
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: as of this function.
    let observer = unsafe { observer::get(data) };
    if !yields(observer) {
        observer.events.emit("waker.wake_by_ref");
    }
    // SAFETY: as of this function.
    unsafe { observer::wake_by_ref(data) };
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: as of this function.
    unsafe { observer::get(data) }.events.emit("waker.drop");
    // SAFETY: as of this function.
    unsafe { observer::drop_waker(data) };
}
