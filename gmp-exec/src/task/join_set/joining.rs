//! Waiting for the tasks of a `JoinSet`.

use std::future::poll_fn;
use std::panic;
use std::task::{Context, Poll, ready};

use super::JoinSet;
use super::member::Member;
use crate::context;
use crate::task::{Id, JoinError, coop};

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
                self.remove(woken);
                return Some(result);
            }
        }
    }

    /// Polls for the next task to finish, and takes it out of the set.
    ///
    /// If it returns `Poll::Pending`, the waker of `cx` is woken when a task finishes. Of several
    /// calls, only the waker of the last call is woken.
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
                self.remove(woken);
                return Poll::Ready(Some(result));
            }
        }
        context::note_wait_of(|| self.wait());
        Poll::Pending
    }

    /// Waits for all tasks of the set and returns their outputs, in the order in which the tasks
    /// finished.
    ///
    /// # Panics
    ///
    /// If a task panicked, its panic propagates to the caller. If a task was aborted, this panics
    /// with its [`JoinError`]. The remaining tasks are aborted. Use [`join_next`](Self::join_next)
    /// to handle errors in another way.
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

fn without_id<T>(result: Result<(Id, T), JoinError>) -> Result<T, JoinError> {
    result.map(|(_, output)| output)
}

fn resume(error: JoinError) -> ! {
    match error.try_into_panic() {
        Ok(payload) => panic::resume_unwind(payload),
        Err(error) => panic!("{error}"),
    }
}
