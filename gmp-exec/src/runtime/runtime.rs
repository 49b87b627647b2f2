//! `Runtime`: owns a scheduler and shuts it down.

use std::future::Future;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use crate::context::{self, Entered};
use crate::metrics::RuntimeMetrics;
use crate::runtime::leaks::Verdict;
use crate::runtime::{Builder, EnterGuard, Handle};
use crate::sched::shutdown;
use crate::task::JoinHandle;

/// A scheduler with its processors, machines and timers.
///
/// Dropping the runtime drops all tasks. It then waits for polls and blocking closures that are
/// under way, however long they take, and for the runtime's threads to end, including the
/// destructors of their thread-locals. After 5 seconds a line on standard error says for which tasks
/// and closures it waits. [`shutdown_timeout`](Self::shutdown_timeout) and
/// [`shutdown_background`](Self::shutdown_background) do not wait so long.
///
/// In every case no poll begins after the shutdown, and all futures are dropped. Timers and I/O end
/// last, when no poll is under way any more, so a task never sees that its runtime ends. A future
/// outside of the runtime that waits for one of its timers then panics, and one that waits for one
/// of its descriptors gets an error: in [`Handle::block_on`], or on another runtime.
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
    /// Whether dropping the runtime waits for its threads.
    waits: bool,
}

impl Runtime {
    /// Makes a multi-thread runtime with the default settings, with I/O and timers enabled.
    ///
    /// # Errors
    ///
    /// See [`Builder::build`].
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let answer = runtime.block_on(async {
    ///     gmp_exec::time::sleep(std::time::Duration::from_millis(1)).await; // timers are enabled
    ///     42
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    pub fn new() -> io::Result<Runtime> {
        Builder::new_multi_thread().enable_all().build()
    }

    pub(crate) fn of(handle: Handle) -> Runtime {
        Runtime { handle, waits: true }
    }

    /// Returns a handle of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// let task = std::thread::spawn(move || handle.spawn(async { 42 })).join().unwrap();
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task; see [`Handle::spawn`].
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let task = runtime.spawn(async { 6 * 7 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that may block; see [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let size = runtime.spawn_blocking(|| std::fs::metadata("/").map(|file| file.is_dir()));
    /// assert!(runtime.block_on(size).unwrap().unwrap());
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let text = String::from("borrowed");
    /// // The future runs on this thread, so it may borrow and needn't be `Send`.
    /// let length = runtime.block_on(async { text.len() });
    /// assert_eq!(length, 8);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        crate::runtime::block_on::block_on(&self.handle, Entered::Runtime, future)
    }

    /// Makes this runtime current on this thread; see [`Handle::enter`].
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let guard = runtime.enter();
    /// let task = gmp_exec::spawn(async { 42 }); // would panic without the guard
    /// drop(guard);
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Returns the runtime's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// assert_eq!(runtime.metrics().num_workers(), 2);
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Shuts down and waits as dropping the runtime does, but no longer than `limit`. Polls and
    /// closures that take longer go on in the background.
    ///
    /// # Panics
    ///
    /// Panics where the thread must not block, such as in a task, unless `limit` is zero. The runtime is
    /// shut down all the same.
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
        let verdict = self.shutdown();
        if limit.is_zero() {
            return verdict.tell();
        }
        if may_block() {
            shutdown::wait(self.handle.scheduler(), Some(limit));
            verdict.tell();
        } else {
            refuse_to_block();
        }
    }

    /// Shuts down without waiting. Unlike dropping the runtime, this may be called inside a
    /// runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Runtime;
    ///
    /// let outer = Runtime::new().unwrap();
    /// outer.block_on(async {
    ///     let inner = Runtime::new().unwrap();
    ///     let answer = inner.spawn(async { 42 }).await.unwrap();
    ///     assert_eq!(answer, 42);
    ///     inner.shutdown_background(); // dropping it here would panic
    /// });
    /// ```
    pub fn shutdown_background(mut self) {
        self.waits = false;
        self.shutdown().tell();
    }

    fn shutdown(&self) -> Verdict {
        let verdict = Verdict::of(self.handle.scheduler());
        let _current = self.handle.enter();
        shutdown::begin(self.handle.scheduler());
        verdict
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let verdict = self.shutdown();
        if !self.waits {
            return;
        }
        if may_block() {
            shutdown::wait(self.handle.scheduler(), None);
            verdict.tell();
        } else {
            refuse_to_block();
        }
    }
}

/// # Panics
///
/// Panics with tokio's text, unless the thread panics already.
fn refuse_to_block() {
    assert!(
        std::thread::panicking(),
        "Cannot drop a runtime in a context where blocking is not allowed. This happens when a runtime is dropped \
         from within an asynchronous context."
    );
}

fn may_block() -> bool {
    context::entered() == Entered::Nothing
}

impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}
