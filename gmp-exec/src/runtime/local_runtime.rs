//! `LocalRuntime`: a current-thread runtime that never leaves its thread, so that its tasks' futures needn't be `Send`.
//!
//! It is a [`Runtime`] and a [`LocalSet`] under one roof: local tasks belong to the set, which is polled whenever the
//! runtime drives a future.

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
    /// Options may come that can't be sent.
    _not_send: PhantomData<*mut u8>,
}

/// A runtime of the current-thread flavour whose tasks may hold what is not [`Send`].
///
/// Tasks of [`spawn_local`](Self::spawn_local) and of [`task::spawn_local`](crate::task::spawn_local) run while somebody
/// is inside of [`block_on`](Self::block_on). The runtime can't leave its thread; its [`Handle`] can, and spawns tasks
/// that are `Send`.
///
/// Dropping it drops all tasks, and waits for blocking closures that are under way.
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
    /// A local runtime with everything enabled and default settings.
    ///
    /// # Errors
    ///
    /// See [`Builder::build`](super::Builder::build).
    pub fn new() -> io::Result<LocalRuntime> {
        crate::runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    pub(super) fn of(runtime: Runtime) -> LocalRuntime {
        let (set, id) = (Rc::new(LocalSet::new()), runtime.handle().id());
        task::add_runtime(id, &set);
        LocalRuntime { set, runtime: Some(runtime), id }
    }

    /// A handle of this runtime.
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
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.runtime().spawn_blocking(f)
    }

    /// Runs a future to its end on this thread, and all tasks of the runtime with it.
    ///
    /// # Panics
    ///
    /// Panics if called inside a runtime, or if the future panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.set.block_on(self.runtime(), future)
    }

    /// Makes this runtime current on this thread; see [`Handle::enter`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle().enter()
    }

    /// The runtime's counters.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime().metrics()
    }

    /// Shuts down and waits for closures that are under way, but no longer than `limit`.
    pub fn shutdown_timeout(mut self, limit: Duration) {
        if let Some(runtime) = self.end_tasks() {
            runtime.shutdown_timeout(limit);
        }
    }

    /// Shuts down and waits for nothing.
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
