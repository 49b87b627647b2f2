//! `Runtime`: owns the threads, and ends them.

use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use crate::context::{self, Entered};
use crate::metrics::RuntimeMetrics;
use crate::runtime::{Builder, EnterGuard, Handle};
use crate::task::JoinHandle;

/// A scheduler with its processors, machines and timers.
///
/// Dropping it drops all tasks and waits for polls and blocking closures that are under way, however long they take, and until its
/// threads have ended with the destructors of their thread-locals; [`shutdown_timeout`](Self::shutdown_timeout) and
/// [`shutdown_background`](Self::shutdown_background) don't.
///
/// In every case no poll begins once the end has come, all futures are dropped, and timers and I/O end last of all, when no poll
/// is under way any more: a task does not see that its runtime ends. Whoever waits elsewhere for a timer or a descriptor of this
/// runtime, in [`Handle::block_on`] or on another runtime, is told then: by a panic or by an error.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::Runtime;
///
/// let runtime = Runtime::new().unwrap();
/// let answer = runtime.block_on(async { gmp_exec::spawn(async { 42 }).await.unwrap() });
/// assert_eq!(answer, 42);
/// ```
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    /// Whether the drop waits for the threads.
    waits: bool,
}

impl Runtime {
    /// A multi-thread runtime with everything enabled and default settings.
    ///
    /// # Errors
    ///
    /// See [`Builder::build`].
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    pub(super) fn of(handle: Handle) -> Runtime {
        Runtime { handle, waits: true }
    }

    /// A handle of this runtime.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task; see [`Handle::spawn`].
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that may block; see [`spawn_blocking`](crate::task::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    /// Runs a future to its end on this thread; see [`Handle::block_on`].
    ///
    /// # Panics
    ///
    /// Panics if called inside a runtime, or if the future panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        crate::runtime::block_on::block_on(&self.handle, Entered::Runtime, future)
    }

    /// Makes this runtime current on this thread; see [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// The runtime's counters.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Shuts down and waits as the drop does, but no longer than `limit`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// runtime.spawn_blocking(|| std::thread::sleep(Duration::from_secs(10)));
    /// runtime.shutdown_timeout(Duration::from_millis(10));
    /// ```
    pub fn shutdown_timeout(mut self, limit: Duration) {
        self.waits = false;
        self.shutdown();
        if may_block() {
            self.handle.scheduler().wait(Some(limit));
        }
    }

    /// Shuts down and waits for nothing. May be called inside a runtime.
    pub fn shutdown_background(mut self) {
        self.waits = false;
        self.shutdown();
    }

    fn shutdown(&self) {
        let _current = self.handle.enter();
        self.handle.scheduler().shutdown();
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shutdown();
        if !self.waits {
            return;
        }
        if may_block() {
            self.handle.scheduler().wait(None);
        } else if !std::thread::panicking() {
            panic!(
                "Cannot drop a runtime in a context where blocking is not allowed. This happens when a runtime is \
                 dropped from within an asynchronous context."
            );
        }
    }
}

fn may_block() -> bool {
    context::entered() == Entered::Nothing
}

impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}
