//! The callback of this thread, and the point at which a leaf future calls it.
#![allow(unsafe_code, reason = "keeps a callback in a thread-local that borrows from the stack")]

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::{deferred, root};

/// What the callback of [`trace_with`] gets.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::dump::{trace_with, Trace};
/// use std::{future::{poll_fn, Future}, pin::pin, task::Poll};
///
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let mut future = pin!(Trace::root(gmp_exec::task::yield_now()));
/// poll_fn(|cx| {
///     let poll = trace_with(|| future.as_mut().poll(cx), |meta| assert!(meta.root_addr.is_some()));
///     assert!(poll.is_pending());
///     Poll::Ready(())
/// })
/// .await;
/// # });
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct TraceMeta {
    /// The function at which the stack of the future begins: that of the innermost [`Root`], of the
    /// task or of `block_on`. The frame whose `symbol_address` is this address, and all frames that
    /// called it, do not belong to the future. `None`: there is no such function.
    ///
    /// [`Root`]: super::Root
    pub root_addr: Option<*const c_void>,
    /// The function that calls the callback. The frame of this function, and all frames that it has
    /// called, do not belong to the future.
    pub trace_leaf_addr: *const c_void,
}

type Callback = dyn FnMut(&TraceMeta);

thread_local! {
    /// Set by `trace_with` for as long as the callback is borrowed by its frame. Taken out while
    /// the callback runs.
    static CALLBACK: Cell<Option<NonNull<Callback>>> = const { Cell::new(None) };
}

/// Calls `f`. In it, each leaf future of gmp and tokio that is polled calls `trace_leaf`, which may
/// look at the stack, and returns `Pending` instead of its output.
///
/// The waker of such a future is woken once the task's poll is over, so that the future can be
/// polled again, outside of `trace_with`, to make progress. Futures of other crates do what they
/// always do. In a nested call the inner callback is called.
///
/// # Panics
///
/// Passes on the panics of `f` and `trace_leaf`.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::dump::trace_with;
/// use std::{future::{poll_fn, Future}, pin::pin, task::Poll};
///
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let mut future = pin!(gmp_exec::task::yield_now());
/// let mut leaves = 0;
/// poll_fn(|cx| Poll::Ready(trace_with(|| future.as_mut().poll(cx).is_pending(), |_| leaves += 1))).await;
/// assert_eq!(leaves, 1);
/// # });
/// ```
pub fn trace_with<FN, FT, R>(f: FN, mut trace_leaf: FT) -> R
where
    FN: FnOnce() -> R,
    FT: FnMut(&TraceMeta),
{
    let callback: NonNull<dyn FnMut(&TraceMeta) + '_> = NonNull::from(&mut trace_leaf);
    // SAFETY: the two types differ in a lifetime only. The pointer is followed only while it is in
    // the thread-local, and `_reset` removes it from there before `trace_leaf` is dropped.
    let callback = unsafe { std::mem::transmute::<NonNull<dyn FnMut(&TraceMeta) + '_>, NonNull<Callback>>(callback) };
    let _reset = Reset(CALLBACK.replace(Some(callback)));
    f()
}

/// Sets the callback that was there before.
struct Reset(Option<NonNull<Callback>>);

impl Drop for Reset {
    fn drop(&mut self) {
        CALLBACK.set(self.0);
    }
}

/// Whether leaf futures on this thread call a callback.
#[inline]
pub(crate) fn is_tracing() -> bool {
    CALLBACK.try_with(Cell::get).is_ok_and(|callback| callback.is_some())
}

/// A leaf future is polled. `Pending`: its poll is traced, and it must do nothing.
///
/// Not inlined, because its frame is the last frame that does not belong to the future.
#[inline(never)]
pub(crate) fn leaf(cx: &mut Context<'_>) -> Poll<()> {
    // A thread that ends has no callback.
    let Some(mut callback) = CALLBACK.try_with(Cell::take).ok().flatten() else { return Poll::Ready(()) };
    {
        let _reset = Reset(Some(callback));
        let meta = TraceMeta { root_addr: root::current(), trace_leaf_addr: leaf as *const c_void };
        // SAFETY: `trace_with` has borrowed the callback, and has not returned. No other code has
        // it meanwhile: it was taken out of the thread-local.
        let trace_leaf = unsafe { callback.as_mut() };
        trace_leaf(&meta);
    }
    deferred::wake_later(cx.waker());
    Poll::Pending
}
