//! Many tasks, joined in the order in which they finish.
//!
//! A `JoinSet` is a set of [`JoinHandle`]s with one way to wait for all of them; `ready_set` finds
//! a handle whose task has finished. Each handle is polled once when it is added, so that its task
//! has the waker from then on. Polling it for the first time in `join_next` would be cheaper, but
//! tasks that had finished by then would be returned in the order in which they were spawned.

use std::future::{Future, poll_fn};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::{fmt, panic};

use crate::runtime::Handle;
use crate::task;
use crate::task::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, coop};

mod builder;
mod ready_set;

pub use builder::Builder;
use ready_set::ReadySet;

/// A collection of tasks that are joined as they finish.
///
/// All tasks of the set have the same output `T`. The set returns them in the order in which they
/// finish, not in which they were spawned. Joining a task costs the same, however many other tasks
/// there are.
///
/// Dropping the set aborts all of its tasks without waiting for their end.
///
/// # Examples
///
/// ```
/// use gmp_exec::task::JoinSet;
///
/// # #[gmp_exec::main]
/// # async fn main() {
/// let mut squares = JoinSet::new();
/// for number in 1..=4 {
///     squares.spawn(async move { number * number });
/// }
///
/// let mut sum = 0;
/// while let Some(square) = squares.join_next().await {
///     sum += square.unwrap();
/// }
/// assert_eq!(sum, 30);
/// # }
/// ```
///
/// # Task ids
///
/// As long as a task is in the set, no other task has its [`Id`], as if a [`JoinHandle`] held the
/// task.
pub struct JoinSet<T> {
    members: ReadySet<Member<T>>,
}

impl<T> JoinSet<T> {
    /// Makes an empty set.
    ///
    /// # Examples
    ///
    /// ```
    /// let set = gmp_exec::task::JoinSet::<()>::new();
    /// assert!(set.is_empty());
    /// ```
    pub fn new() -> JoinSet<T> {
        JoinSet { members: ReadySet::new() }
    }

    /// Returns the number of tasks in the set: those that run, and those that have finished but
    /// weren't joined yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.spawn(async {});
    /// assert_eq!(set.len(), 1); // whether or not the task has finished
    /// set.join_next().await.unwrap().unwrap();
    /// assert_eq!(set.len(), 0);
    /// # }
    /// ```
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether the set has no task, neither running nor finished.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// assert!(set.is_empty());
    /// set.spawn(async {});
    /// assert!(!set.is_empty());
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

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

    fn insert(&mut self, handle: JoinHandle<T>) -> AbortHandle {
        let abort_handle = handle.abort_handle();
        let key = self.members.insert(Member { handle, result: Mutex::new(None) });
        if self.members.poll(key, Member::join_early) {
            self.members.wake(key);
        }
        abort_handle
    }
}

/// # Joining
impl<T: 'static> JoinSet<T> {
    /// Waits until a task of the set has finished, takes it out and returns its output. `None` if
    /// the set is empty.
    ///
    /// # Errors
    ///
    /// The [`JoinError`] of a task that panicked or was aborted.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, as in a `select!` that another branch won, then
    /// no task has been taken out of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.spawn(async { 1 });
    /// set.spawn(async { panic!("boom") });
    /// let (mut sum, mut panics) = (0, 0);
    /// while let Some(result) = set.join_next().await {
    ///     match result {
    ///         Ok(number) => sum += number,
    ///         Err(error) => panics += u32::from(error.is_panic()),
    ///     }
    /// }
    /// assert_eq!((sum, panics), (1, 1));
    /// # }
    /// ```
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        poll_fn(|cx| self.poll_join_next(cx)).await
    }

    /// Waits as [`join_next`](Self::join_next) does, and returns the task's [`Id`] with its output.
    ///
    /// # Errors
    ///
    /// The [`JoinError`] of a task that panicked or was aborted; [`JoinError::id`] is the task's
    /// id.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, no task has been taken out of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// let first = set.spawn(async { "first" }).id();
    /// let (id, output) = set.join_next_with_id().await.unwrap().unwrap();
    /// assert_eq!((id, output), (first, "first"));
    /// # }
    /// ```
    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        poll_fn(|cx| self.poll_join_next_with_id(cx)).await
    }

    /// Takes a task that has finished out of the set and returns its output. `None` if no task has
    /// finished yet, or the set is empty.
    ///
    /// # Errors
    ///
    /// The [`JoinError`] of a task that panicked or was aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// assert!(set.try_join_next().is_none());
    /// set.spawn(async { 42 });
    /// let output = loop {
    ///     if let Some(output) = set.try_join_next() {
    ///         break output;
    ///     }
    ///     gmp_exec::task::yield_now().await; // or do something else
    /// };
    /// assert_eq!(output.unwrap(), 42);
    /// # }
    /// ```
    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.try_join_next_with_id().map(without_id)
    }

    /// Does what [`try_join_next`](Self::try_join_next) does, and returns the task's [`Id`] with
    /// its output.
    ///
    /// # Errors
    ///
    /// The [`JoinError`] of a task that panicked or was aborted; [`JoinError::id`] is the task's
    /// id.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// let task = set.spawn(async { 42 });
    /// let output = loop {
    ///     if let Some(output) = set.try_join_next_with_id() {
    ///         break output;
    ///     }
    ///     gmp_exec::task::yield_now().await; // or do something else
    /// };
    /// assert_eq!(output.unwrap(), (task.id(), 42));
    /// # }
    /// ```
    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        loop {
            let woken = self.members.next_woken()?;
            if let Poll::Ready(result) = self.members.poll(woken, Member::poll) {
                self.members.remove(woken);
                return Some(result);
            }
        }
    }

    /// Polls for the next task to finish, and takes it out of the set.
    ///
    /// If it returns `Poll::Pending`, the waker of `cx` is woken when a task finishes. Of several
    /// calls, only the last one's waker is woken.
    ///
    /// # Returns
    ///
    /// * `Poll::Ready(Some(Ok(output)))`: a task finished.
    /// * `Poll::Ready(Some(Err(error)))`: a task panicked or was aborted.
    /// * `Poll::Ready(None)`: the set is empty.
    /// * `Poll::Pending`: no task has finished yet, or the calling task has used up its budget, see
    ///   [`coop`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.spawn(async { 42 });
    /// let output = poll_fn(|cx| set.poll_join_next(cx)).await;
    /// assert_eq!(output.unwrap().unwrap(), 42);
    /// # }
    /// ```
    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.poll_join_next_with_id(cx).map(|next| next.map(without_id))
    }

    /// Polls as [`poll_join_next`](Self::poll_join_next) does, and returns the task's [`Id`] with
    /// its output.
    ///
    /// # Returns
    ///
    /// As `poll_join_next`, with `(id, output)` in place of `output`. [`JoinError::id`] is the
    /// id of a task that panicked or was aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// let id = set.spawn(async { 42 }).id();
    /// let output = poll_fn(|cx| set.poll_join_next_with_id(cx)).await;
    /// assert_eq!(output.unwrap().unwrap(), (id, 42));
    /// # }
    /// ```
    pub fn poll_join_next_with_id(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(Id, T), JoinError>>> {
        if self.is_empty() {
            return Poll::Ready(None);
        }
        let budget = ready!(coop::poll_proceed(cx));
        while let Some(woken) = self.members.next_woken_or_register(cx.waker()) {
            if let Poll::Ready(result) = self.members.poll(woken, Member::poll) {
                budget.made_progress();
                self.members.remove(woken);
                return Poll::Ready(Some(result));
            }
        }
        Poll::Pending
    }

    /// Waits for all tasks of the set and returns their outputs, in the order in which the tasks
    /// finished.
    ///
    /// # Panics
    ///
    /// If a task panicked, its panic goes on in the caller. If a task was aborted, this panics with
    /// its [`JoinError`]. The remaining tasks are aborted. Use [`join_next`](Self::join_next) to
    /// handle errors in another way.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future drops the set, which aborts its tasks, and drops the
    /// outputs that it has collected.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let set: gmp_exec::task::JoinSet<_> = (0..3).map(|number| async move { number }).collect();
    /// let mut outputs = set.join_all().await;
    /// outputs.sort();
    /// assert_eq!(outputs, [0, 1, 2]);
    /// # }
    /// ```
    pub async fn join_all(mut self) -> Vec<T> {
        let mut outputs = Vec::with_capacity(self.len());
        while let Some(result) = self.join_next().await {
            outputs.push(result.unwrap_or_else(|error| resume(error)));
        }
        outputs
    }
}

/// # Ending
impl<T: 'static> JoinSet<T> {
    /// Aborts all tasks and waits until they have ended. The set is empty afterwards. Panics of the
    /// tasks are ignored.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped early, all tasks have been aborted, and those that haven't ended
    /// are still in the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.spawn(std::future::pending::<()>());
    /// set.shutdown().await;
    /// assert!(set.is_empty());
    /// # }
    /// ```
    pub async fn shutdown(&mut self) {
        self.abort_all();
        while self.join_next().await.is_some() {}
    }

    /// Aborts all tasks. They stay in the set until they are joined.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// for _ in 0..3 {
    ///     set.spawn(std::future::pending::<()>());
    /// }
    /// set.abort_all();
    /// while let Some(result) = set.join_next().await {
    ///     assert!(result.unwrap_err().is_cancelled());
    /// }
    /// # }
    /// ```
    pub fn abort_all(&mut self) {
        for member in self.members.values() {
            member.handle.abort();
        }
    }

    /// Takes all tasks out of the set without aborting them. They go on in the background, even
    /// when the set is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// # #[gmp_exec::main]
    /// # async fn main() {
    /// let (sender, receiver) = mpsc::channel();
    /// let mut set = gmp_exec::task::JoinSet::new();
    /// set.spawn(async move {
    ///     gmp_exec::task::yield_now().await;
    ///     sender.send(42).unwrap();
    /// });
    /// set.detach_all();
    /// drop(set);
    /// let answer = gmp_exec::task::spawn_blocking(move || receiver.recv());
    /// assert_eq!(answer.await.unwrap(), Ok(42));
    /// # }
    /// ```
    pub fn detach_all(&mut self) {
        self.members.clear();
    }
}

/// Outputs are moved in and out, and never pinned.
impl<T> Unpin for JoinSet<T> {}

/// Aborts all tasks of the set.
impl<T> Drop for JoinSet<T> {
    fn drop(&mut self) {
        for member in self.members.values() {
            member.handle.abort();
        }
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinSet").field("len", &self.len()).finish()
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> JoinSet<T> {
        JoinSet::new()
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

/// A task of the set.
struct Member<T> {
    handle: JoinHandle<T>,
    /// The task's result, if the task had finished before its handle was added to the set.
    ///
    /// The mutex is never locked. It makes the set `Sync` for outputs that are only `Send`.
    result: Mutex<Option<Result<T, JoinError>>>,
}

impl<T> Member<T> {
    /// Returns whether the task has finished. Its result is kept in the member.
    fn join_early(&mut self, cx: &mut Context<'_>) -> bool {
        let Poll::Ready(result) = self.handle.poll_unguarded(cx) else {
            return false;
        };
        self.result = Mutex::new(Some(result));
        true
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(Id, T), JoinError>> {
        let id = self.handle.id();
        let result = match self.early_result() {
            Some(result) => result,
            None => ready!(self.handle.poll_unguarded(cx)),
        };
        Poll::Ready(result.map(|output| (id, output)))
    }

    fn early_result(&mut self) -> Option<Result<T, JoinError>> {
        self.result.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn without_id<T>(result: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    result.map(|(_, output)| output)
}

fn resume(error: JoinError) -> ! {
    match error.try_into_panic() {
        Ok(payload) => panic::resume_unwind(payload),
        Err(error) => panic!("{error}"),
    }
}
