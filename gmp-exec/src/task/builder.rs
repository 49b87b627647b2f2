//! `Builder`: spawns tasks with a name.

use std::future::Future;
use std::io;
use std::panic::Location;

use crate::context;
use crate::runtime::Handle;
use crate::task::blocking::spawn_blocking_on;
use crate::task::local_set::spawn_local_named;
use crate::task::spawn::spawn_named_on;
use crate::task::{AtShutdown, JoinHandle, LocalSet};

/// Spawns a task with a name.
///
/// The name is shown by [`Handle::tasks`](crate::runtime::Handle::tasks). The name takes memory
/// until the task has ended, and the beginning and the end of each named task take a lock.
///
/// # Examples
///
/// ```
/// use gmp_exec::{runtime::Handle, task};
///
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let task = task::Builder::new().name("sees itself").spawn(async {
///     Handle::current().tasks().next().unwrap().name
/// })?;
/// assert_eq!(task.await.unwrap().as_deref(), Some("sees itself"));
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// Makes a builder of tasks without names.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::task::Builder::new().spawn(async { 42 })?;
    /// assert_eq!(task.await.unwrap(), 42);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn new() -> Builder<'a> {
        Builder::default()
    }

    /// Sets the name of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let builder = gmp_exec::task::Builder::new().name("answers");
    /// assert_eq!(builder.spawn(async { 42 })?.await.unwrap(), 42);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn name(&self, name: &'a str) -> Builder<'a> {
        Builder { name: Some(name) }
    }

    /// Spawns a task on the current runtime; see [`spawn`](crate::task::spawn()).
    ///
    /// # Errors
    ///
    /// None; this returns a result as tokio does.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::task::Builder::new().name("adds").spawn(async { 1 + 1 })?;
    /// assert_eq!(task.await.unwrap(), 2);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let location = Location::caller();
        match context::current_runtime() {
            Ok(runtime) => Ok(runtime.with(|scheduler| spawn_named_on(scheduler, future, location, self.name))),
            Err(error) => panic!("{error}"),
        }
    }

    /// Spawns a task on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// None; this returns a result as tokio does.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let builder = gmp_exec::task::Builder::new().name("elsewhere");
    /// let task = builder.spawn_on(async { 42 }, runtime.handle()).unwrap();
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(spawn_named_on(handle.scheduler(), future, Location::caller(), self.name))
    }

    /// Spawns a task on the current [`LocalSet`]; see [`spawn_local`](crate::task::spawn_local).
    ///
    /// # Errors
    ///
    /// None; this returns a result as tokio does.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a `LocalSet`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{Builder, LocalSet};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let set = LocalSet::new();
    /// let text = set.run_until(async {
    ///     let shared = std::rc::Rc::new("not Send");
    ///     Builder::new().name("local").spawn_local(async move { *shared }).unwrap().await.unwrap()
    /// });
    /// assert_eq!(text.await, "not Send");
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(spawn_local_named(future, self.name))
    }

    /// Spawns a task on a [`LocalSet`].
    ///
    /// # Errors
    ///
    /// None; this returns a result as tokio does.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{Builder, LocalSet};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let set = LocalSet::new();
    /// let task = Builder::new().name("local").spawn_local_on(async { 42 }, &set).unwrap();
    /// assert_eq!(set.run_until(task).await.unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_named(future, self.name))
    }

    /// Runs a closure that may block, on the current runtime; see
    /// [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Errors
    ///
    /// Fails if the system can't start a thread and no other thread for closures exists. The closure is
    /// dropped.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let builder = gmp_exec::task::Builder::new().name("lists the root");
    /// let entries = builder.spawn_blocking(|| std::fs::read_dir("/").unwrap().count())?;
    /// assert!(entries.await.unwrap() > 0);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, function: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_on(function, &Handle::current())
    }

    /// Runs a closure that may block, on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// As [`spawn_blocking`](Self::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let builder = gmp_exec::task::Builder::new().name("multiplies");
    /// let closure = builder.spawn_blocking_on(|| (1..=10).product::<u32>(), runtime.handle());
    /// assert_eq!(runtime.block_on(closure.unwrap()).unwrap(), 3_628_800);
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, function: F, handle: &Handle) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let location = Location::caller();
        spawn_blocking_on(handle.scheduler(), AtShutdown::Wait, None, function, location, self.name)
    }
}
