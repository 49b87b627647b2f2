//! `Builder`: spawns tasks with a name on a `JoinSet`.

use std::future::Future;
use std::{fmt, io};

use super::JoinSet;
use crate::runtime::Handle;
use crate::task::{self, AbortHandle, LocalSet};

/// Spawns a task with a name on a [`JoinSet`]; see [`JoinSet::build_task`].
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let mut set = gmp_exec::task::JoinSet::new();
/// set.build_task().name("answers").spawn(async { 42 })?;
/// assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[must_use = "builders do nothing unless used to spawn a task"]
pub struct Builder<'a, T> {
    joinset: &'a mut JoinSet<T>,
    builder: task::Builder<'a>,
}

impl<T: 'static> JoinSet<T> {
    /// Returns a builder for a task of the set that has a name.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// for name in ["first", "second"] {
    ///     set.build_task().name(name).spawn(async {})?;
    /// }
    /// assert_eq!(set.len(), 2);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn build_task(&mut self) -> Builder<'_, T> {
        Builder { joinset: self, builder: task::Builder::new() }
    }
}

impl<'a, T: 'static> Builder<'a, T> {
    /// Sets the name of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.build_task().name("answers").spawn(async { 42 })?;
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    pub fn name(self, name: &'a str) -> Builder<'a, T> {
        Builder { builder: self.builder.name(name), ..self }
    }

    /// Spawns the task on the current runtime; see [`JoinSet::spawn`].
    ///
    /// # Errors
    ///
    /// None; this and the other methods return a result as tokio does.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.build_task().name("adds").spawn(async { 1 + 1 })?;
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 2);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.joinset.insert(self.builder.spawn(future)?))
    }

    /// Spawns the task on the runtime of `handle`; see [`JoinSet::spawn_on`].
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.build_task().name("elsewhere").spawn_on(async { 42 }, runtime.handle()).unwrap();
    /// assert_eq!(runtime.block_on(set.join_next()).unwrap().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        Ok(self.joinset.insert(self.builder.spawn_on(future, handle)?))
    }

    /// Runs a closure that may block; see [`JoinSet::spawn_blocking`].
    ///
    /// # Errors
    ///
    /// As [`task::Builder::spawn_blocking`](crate::task::Builder::spawn_blocking).
    ///
    /// # Panics
    ///
    /// Panics if called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.build_task().name("multiplies").spawn_blocking(|| (1..=10).product::<u32>())?;
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 3_628_800);
    /// # std::io::Result::Ok(())
    /// # }).unwrap();
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(self, f: F) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.joinset.insert(self.builder.spawn_blocking(f)?))
    }

    /// Runs a closure that may block on the runtime of `handle`; see
    /// [`JoinSet::spawn_blocking_on`].
    ///
    /// # Errors
    ///
    /// As [`task::Builder::spawn_blocking`](crate::task::Builder::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.build_task().name("sums").spawn_blocking_on(|| 1 + 1, runtime.handle()).unwrap();
    /// assert_eq!(runtime.block_on(set.join_next()).unwrap().unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(self, f: F, handle: &Handle) -> io::Result<AbortHandle>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        Ok(self.joinset.insert(self.builder.spawn_blocking_on(f, handle)?))
    }

    /// Spawns the task on the current [`LocalSet`]; see [`JoinSet::spawn_local`].
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Panics
    ///
    /// Panics if called outside of a `LocalSet`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{JoinSet, LocalSet};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// LocalSet::new()
    ///     .run_until(async {
    ///         let mut set = JoinSet::new();
    ///         set.build_task().name("local").spawn_local(async { 42 }).unwrap();
    ///         assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    ///     })
    ///     .await;
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.joinset.insert(self.builder.spawn_local(future)?))
    }

    /// Spawns the task on a [`LocalSet`]; see [`JoinSet::spawn_local_on`].
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{JoinSet, LocalSet};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let (mut set, local) = (JoinSet::new(), LocalSet::new());
    /// set.build_task().name("local").spawn_local_on(async { 42 }, &local).unwrap();
    /// local.await; // runs the task
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(self, future: F, local_set: &LocalSet) -> io::Result<AbortHandle>
    where
        F: Future<Output = T> + 'static,
    {
        Ok(self.joinset.insert(self.builder.spawn_local_on(future, local_set)?))
    }
}

impl<T> fmt::Debug for Builder<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("join_set::Builder").field("joinset", &self.joinset).field("builder", &self.builder).finish()
    }
}
