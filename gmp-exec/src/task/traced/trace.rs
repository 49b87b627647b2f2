//! The stacks of one poll.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::backtrace::{self, Backtrace};
use super::leaf::trace_with;
use super::root::Root;
use super::tree::Tree;

/// Where a future waits: for each of its leaf futures of gmp and tokio, the calls above it.
///
/// `Display` writes the calls as a tree, with names, files and lines as far as the program's debug
/// information has them. For a task that was not traced, `Display` writes what is known without its
/// stack; see [`Task::trace`](crate::runtime::dump::Task::trace).
#[derive(Clone)]
pub struct Trace {
    stacks: Arc<[Stack]>,
    instead: Option<Arc<str>>,
}

type Stack = Vec<::backtrace::BacktraceFrame>;

impl Trace {
    /// Calls `f`, which polls a future, and returns the stacks of the leaf futures that were
    /// polled. They return `Pending`; see [`trace_with`](super::trace_with).
    ///
    /// The names are not looked up yet, so a trace takes some microseconds for each frame.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::dump::Trace;
    /// use std::{future::{poll_fn, Future}, pin::pin, task::Poll};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// async fn waits() {
    ///     gmp_exec::task::yield_now().await;
    /// }
    /// let mut future = pin!(Trace::root(waits()));
    /// let trace = poll_fn(|cx| Poll::Ready(Trace::capture(|| future.as_mut().poll(cx)).1)).await;
    /// assert!(trace.to_string().contains("waits"));
    /// # });
    /// ```
    pub fn capture<F, R>(f: F) -> (R, Trace)
    where
        F: FnOnce() -> R,
    {
        let mut stacks = Vec::new();
        let result = trace_with(f, |meta| stacks.push(backtrace::stack(meta)));
        (result, Trace { stacks: stacks.into(), instead: None })
    }

    /// Makes the stacks of a future begin with it. The future of a task, and that of `block_on`, is
    /// a root anyway.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// assert_eq!(gmp_exec::runtime::dump::Trace::root(async { 7 }).await, 7);
    /// # });
    /// ```
    pub fn root<F>(f: F) -> Root<F>
    where
        F: Future,
    {
        Root::new(f)
    }

    /// In place of the trace of a task that was not traced.
    pub(crate) fn instead(text: String) -> Trace {
        Trace { stacks: Arc::new([]), instead: Some(text.into()) }
    }

    /// Whether the poll has met a leaf.
    pub(crate) fn has_stacks(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// Finds the names of the functions, for each leaf.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::dump::Trace;
    /// use std::{future::{poll_fn, Future}, pin::pin, task::Poll};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut future = pin!(gmp_exec::task::yield_now());
    /// let trace = poll_fn(|cx| Poll::Ready(Trace::capture(|| future.as_mut().poll(cx)).1)).await;
    /// for backtrace in trace.resolve_backtraces() {
    ///     for symbol in backtrace.frames().flat_map(|frame| frame.symbols()) {
    ///         println!("{:?} at {:?}:{:?}", symbol.name_demangled(), symbol.filename(), symbol.lineno());
    ///     }
    /// }
    /// # });
    /// ```
    pub fn resolve_backtraces(&self) -> Vec<Backtrace> {
        self.stacks.iter().map(|frames| Backtrace::resolve(frames)).collect()
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.instead {
            Some(text) => f.write_str(text),
            None => Tree::of(&self.resolve_backtraces()).fmt(f),
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("leaves", &self.stacks.len()).field("instead", &self.instead).finish()
    }
}
