//! `LocalRuntime`: a current-thread runtime that never leaves its thread, so that its tasks'
//! futures needn't be `Send`.
//!
//! It consists of a [`Runtime`] and a [`LocalSet`]. Local tasks belong to the set, which is polled
//! whenever the runtime runs a `block_on`.

use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::time::Duration;

use crate::runtime::{EnterGuard, Handle, Id, Runtime, RuntimeMetrics};
use crate::task::{self, JoinHandle, LocalSet};

/// Options for [`Builder::build_local`](super::Builder::build_local). There are none yet.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Keeps the type `!Send`, so that options which can't be sent may be added.
    _not_send: PhantomData<*mut u8>,
}

/// A runtime of the current-thread flavour whose tasks needn't be [`Send`].
///
/// Tasks of [`spawn_local`](Self::spawn_local) and of
/// [`task::spawn_local`](crate::task::spawn_local) run while the thread is inside of
/// [`block_on`](Self::block_on). The runtime can't leave its thread. Its [`Handle`] can, and spawns
/// tasks that are `Send`.
///
/// Dropping it drops all tasks, and waits for blocking closures that are under way, as the drop of a
/// [`Runtime`] does.
///
/// # Examples
///
/// ```
/// use gmp_exec::{runtime::LocalRuntime, task::spawn_local};
/// use std::rc::Rc;
///
/// let runtime = LocalRuntime::new().unwrap();
/// let text = runtime.block_on(async {
///     let shared = Rc::new("not Send");
///     spawn_local(async move { *shared }).await.unwrap()
/// });
/// assert_eq!(text, "not Send");
/// ```
#[derive(Debug)]
pub struct LocalRuntime {
    set: Rc<LocalSet>,
    /// `None` only while being dropped.
    runtime: Option<Runtime>,
    id: Id,
}

impl LocalRuntime {
    /// Makes a local runtime with the default settings, with I/O and timers enabled.
    ///
    /// # Errors
    ///
    /// See [`Builder::build`](super::Builder::build).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let shared = Rc::new(5);
    /// let task = runtime.spawn_local({
    ///     let shared = shared.clone();
    ///     async move { *shared * 2 }
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap(), 10);
    /// ```
    pub fn new() -> io::Result<LocalRuntime> {
        crate::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    pub(super) fn of(runtime: Runtime) -> LocalRuntime {
        let set = {
            // The set belongs to this runtime before it is polled for the first time.
            let _current = runtime.enter();
            Rc::new(LocalSet::of_runtime(&runtime.handle().scheduler().config))
        };
        let id = runtime.handle().id();
        task::add_runtime(id, &set);
        LocalRuntime { set, runtime: Some(runtime), id }
    }

    /// Returns a handle of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let handle = runtime.handle().clone();
    /// let task = std::thread::spawn(move || handle.spawn(async { 42 })).join().unwrap();
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn handle(&self) -> &Handle {
        self.runtime().handle()
    }

    /// Spawns a task on this runtime; its future needn't be [`Send`].
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let shared = std::rc::Rc::new(5);
    /// let task = runtime.spawn_local(async move { *shared + 1 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 6);
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.set.spawn_local(future)
    }

    /// Runs a closure that may block; see [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let closure = runtime.spawn_blocking(|| std::thread::current().id());
    /// assert_ne!(runtime.block_on(closure).unwrap(), std::thread::current().id());
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime().spawn_blocking(f)
    }

    /// Runs a future to its end on this thread, and all tasks of the runtime with it. The future is
    /// polled again whenever local tasks have become ready, also if it was not woken itself.
    ///
    /// # Panics
    ///
    /// Panics if called inside a runtime, or if the future panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::LocalRuntime, task::spawn_local};
    ///
    /// let runtime = LocalRuntime::new().unwrap();
    /// let answer = runtime.block_on(async { spawn_local(async { 42 }).await.unwrap() });
    /// assert_eq!(answer, 42);
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.set.block_on(self.runtime(), future)
    }

    /// Makes this runtime current on this thread; see [`Handle::enter`].
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let guard = runtime.enter();
    /// let task = gmp_exec::task::spawn_local(async { 42 });
    /// drop(guard);
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle().enter()
    }

    /// Returns the runtime's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// assert_eq!(runtime.metrics().num_workers(), 1);
    /// ```
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime().metrics()
    }

    /// Shuts down and waits for blocking closures that are under way, but no longer than `limit`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// runtime.spawn_blocking(|| std::thread::sleep(Duration::from_secs(10)));
    /// let start = Instant::now();
    /// runtime.shutdown_timeout(Duration::from_millis(10));
    /// assert!(start.elapsed() < Duration::from_secs(10));
    /// ```
    pub fn shutdown_timeout(mut self, limit: Duration) {
        if let Some(runtime) = self.end_tasks() {
            runtime.shutdown_timeout(limit);
        }
    }

    /// Shuts down without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = gmp_exec::runtime::LocalRuntime::new().unwrap();
    /// let shared = Rc::new(());
    /// let held = shared.clone();
    /// runtime.spawn_local(async move {
    ///     std::future::pending::<()>().await;
    ///     drop(held);
    /// });
    /// runtime.shutdown_background();
    /// assert_eq!(Rc::strong_count(&shared), 1, "the task has been dropped");
    /// ```
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("taken by the drop only")
    }

    /// Drops the local tasks inside of the runtime, like all others.
    fn end_tasks(&mut self) -> Option<Runtime> {
        let runtime = self.runtime.take()?;
        let current = runtime.enter();
        self.set.end();
        drop(current);
        task::remove_runtime(self.id);
        Some(runtime)
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        drop(self.end_tasks());
    }
}

impl UnwindSafe for LocalRuntime {}
impl RefUnwindSafe for LocalRuntime {}
