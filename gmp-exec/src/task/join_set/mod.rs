//! Many tasks, joined in the order in which they finish.
//!
//! A `JoinSet` is a set of [`JoinHandle`](crate::task::JoinHandle)s with one way to wait for all of
//! them; `ready_set` finds a handle whose task has finished. Each handle is polled once when it is
//! added, so that its task has the waker from then on. Polling it for the first time in `join_next`
//! would be cheaper, but tasks that had finished by then would be returned in the order in which
//! they were spawned.

mod builder;
mod joining;
mod member;
mod ready_set;
mod roll;
mod spawning;

use std::fmt;

pub use builder::Builder;
use member::Member;
use ready_set::{Key, ReadySet};
use roll::Roll;
pub(crate) use roll::{size_of_set, tasks_of_set};

use super::Wait;

/// A collection of tasks that are joined as they finish.
///
/// All tasks of the set have the same output `T`. The set returns them in the order in which they
/// finish, not in the order in which they were spawned. Joining a task costs the same, however many
/// other tasks there are.
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
/// As long as a task is in the set, no other task has its [`Id`](crate::task::Id), as if a
/// [`JoinHandle`](crate::task::JoinHandle) held the task.
pub struct JoinSet<T> {
    members: ReadySet<Member<T>>,
    roll: Roll,
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
        JoinSet { members: ReadySet::new(), roll: Roll::default() }
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
        self.roll.clear();
    }

    /// Takes out a task that has finished.
    fn remove(&mut self, key: Key) {
        self.members.remove(key);
        self.roll.remove(key.slot());
    }

    /// The note of a task that waits for the set.
    fn wait(&mut self) -> Wait {
        let tasks = self.members.iter().map(|(slot, member)| (slot, member.handle.id()));
        Wait::AnyOf(self.roll.number(tasks))
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
