//! The functions at which the stacks of futures begin.

use std::cell::Cell;
use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::deferred;

thread_local! {
    /// The innermost function under way that polls a root.
    static CURRENT: Cell<Option<*const c_void>> = const { Cell::new(None) };
}

pub(super) fn current() -> Option<*const c_void> {
    CURRENT.try_with(Cell::get).unwrap_or_default()
}

/// Sets the root that was there before.
struct Reset(Option<*const c_void>);

impl Drop for Reset {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

fn enter(function: *const c_void) -> Reset {
    Reset(CURRENT.replace(Some(function)))
}

/// Polls the future of a task, or that of `block_on`.
#[inline(never)]
pub(in crate::task) fn poll_root<F: Future>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    let _root = enter(poll_root::<F> as *const c_void);
    let _poll = deferred::Poll::begin();
    future.poll(cx)
}

pin_project! {
    /// The future of `block_on`.
    pub(crate) struct Rooted<F> {
        #[pin]
        future: F,
    }
}

pub(crate) fn rooted<F>(future: F) -> Rooted<F> {
    Rooted { future }
}

impl<F: Future> Future for Rooted<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        poll_root(self.project().future, cx)
    }
}

pin_project! {
    /// A future whose traces begin with it: the future of [`Trace::root`](super::Trace::root).
    #[derive(Clone, Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Root<T> {
        #[pin]
        future: T,
    }
}

impl<T> Root<T> {
    pub(super) fn new(future: T) -> Root<T> {
        Root { future }
    }
}

impl<T: Future> Future for Root<T> {
    type Output = T::Output;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        let _root = enter(Self::poll as *const c_void);
        self.project().future.poll(cx)
    }
}
