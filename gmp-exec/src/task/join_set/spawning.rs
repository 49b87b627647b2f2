//! Spawning tasks on a `JoinSet`.

use std::future::Future;

use super::JoinSet;
use super::member::Member;
use crate::runtime::Handle;
use crate::task::{self, AbortHandle, JoinHandle, LocalSet};

/// # Spawning
impl<T: 'static> JoinSet<T> {
    /// Spawns a task on the current runtime and adds it to the set. The task begins to run at once,
    /// whether or not the caller waits for the set.
    ///
    /// # Panics
    ///
    /// Panics if it is called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// let endless = set.spawn(std::future::pending::<()>());
    /// endless.abort();
    /// assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(task::spawn(task))
    }

    /// Spawns a task on the runtime of `handle` and adds it to the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Runtime, task::JoinSet};
    ///
    /// let runtime = Runtime::new().unwrap();
    /// let mut set = JoinSet::new();
    /// set.spawn_on(async { 42 }, runtime.handle());
    /// assert_eq!(runtime.block_on(set.join_next()).unwrap().unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn(task))
    }

    /// Spawns a task on the current [`LocalSet`] and adds it to the set. The task runs on this
    /// thread, so its future needn't be [`Send`].
    ///
    /// # Panics
    ///
    /// Panics if it is called outside of a `LocalSet`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    /// use gmp_exec::task::{JoinSet, LocalSet};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let rc = Rc::new(7);
    /// LocalSet::new()
    ///     .run_until(async move {
    ///         let mut set = JoinSet::new();
    ///         set.spawn_local(async move { *rc });
    ///         assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    ///     })
    ///     .await;
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(task::spawn_local(task))
    }

    /// Spawns a task on `local_set` and adds it to the set. The `LocalSet` needn't be running: the
    /// task begins when `local_set` does.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::{JoinSet, LocalSet};
    /// use std::rc::Rc;
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (mut set, local) = (JoinSet::new(), LocalSet::new());
    /// let rc = Rc::new(7);
    /// set.spawn_local_on(async move { *rc }, &local);
    /// local.await; // runs the task
    /// assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.insert(local_set.spawn_local(task))
    }

    /// Runs a closure that may block, as [`spawn_blocking`](task::spawn_blocking) does, and adds it
    /// to the set.
    ///
    /// Aborting the closure has an effect only as long as it hasn't begun.
    ///
    /// # Panics
    ///
    /// Panics if it is called outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// for name in ["Cargo.toml", "README.md"] {
    ///     set.spawn_blocking(move || std::fs::read_to_string(name).map_or(0, |text| text.len()));
    /// }
    /// let lengths = set.join_all().await;
    /// assert_eq!(lengths.len(), 2);
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(task::spawn_blocking(f))
    }

    /// Runs a closure that may block on the runtime of `handle`, and adds it to the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Runtime, task::JoinSet};
    ///
    /// let runtime = Runtime::new().unwrap();
    /// let mut set = JoinSet::new();
    /// set.spawn_blocking_on(|| (1..=10).sum::<u32>(), runtime.handle());
    /// assert_eq!(runtime.block_on(set.join_next()).unwrap().unwrap(), 55);
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send,
    {
        self.insert(handle.spawn_blocking(f))
    }

    pub(super) fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let (abort_handle, id) = (handle.abort_handle(), handle.id());
        let key = self.members.insert(Member::of(handle));
        self.roll.insert(key.slot(), id);
        if self.members.poll(key, Member::join_early) {
            self.members.wake(key);
        }
        abort_handle
    }
}

/// Spawns each future of an iterator, as [`JoinSet::spawn`] does.
///
/// # Panics
///
/// Panics if it is called outside of a runtime and there is a future to spawn.
impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> JoinSet<T> {
        let mut set = JoinSet::new();
        set.extend(futures);
        set
    }
}

/// Spawns each future of an iterator, as [`JoinSet::spawn`] does.
///
/// # Panics
///
/// Panics if it is called outside of a runtime and there is a future to spawn.
///
/// # Examples
///
/// ```
/// # #[gmp_exec::main]
/// # async fn main() {
/// let mut set = gmp_exec::task::JoinSet::new();
/// set.extend((0..5).map(|number| async move { number }));
/// assert_eq!(set.len(), 5);
/// # }
/// ```
impl<T, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
