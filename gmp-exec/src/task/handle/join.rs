//! `JoinHandle`: awaits a task's output, can abort it, detaches it when dropped.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};

use crate::contain::contain;
use crate::context;
use crate::task::cell::future::Outcome;
use crate::task::cell::header::Header;
use crate::task::cell::waiting::Wait;
use crate::task::handle::abort::AbortHandle;
use crate::task::observer::Observer;
use crate::task::observer::joining::joining;
use crate::task::{Id, JoinError, coop};

/// Awaits the output of a spawned task.
///
/// Dropping the handle detaches the task: it goes on, and its output is dropped.
///
/// # Cancel safety
///
/// `&mut JoinHandle` is cancel safe: if it is dropped in a `select!`, a later poll still returns
/// the output.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let handle = gmp_exec::spawn(async { 6 * 7 });
/// assert_eq!(handle.await.unwrap(), 42);
/// # });
/// ```
pub struct JoinHandle<T> {
    /// `None` only while being dropped or after the output was taken.
    task: Option<async_task::Task<Outcome<T>, Header>>,
    id: Id,
    /// Whether the handle was polled, so that the task has a waker of the awaiting side.
    is_awaited: bool,
    /// Makes the handle `Send` and `Sync` if `T` is `Send`: it gives the output to one thread, by
    /// value.
    _output: PhantomData<std::sync::Mutex<T>>,
}

impl<T> JoinHandle<T> {
    pub(in crate::task) fn new(task: async_task::Task<Outcome<T>, Header>) -> Self {
        JoinHandle { id: task.metadata().id, task: Some(task), is_awaited: false, _output: PhantomData }
    }

    /// Asks the runtime to cancel the task: its future is dropped at the latest when it would be
    /// polled next.
    ///
    /// Awaiting the handle then returns a cancelled [`JoinError`], unless the task finishes first.
    /// A closure of [`spawn_blocking`](crate::task::spawn_blocking) can be aborted only before it
    /// starts.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let handle = gmp_exec::spawn(std::future::pending::<()>());
    /// handle.abort();
    /// assert!(handle.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        if let Some(header) = self.header() {
            header.home.registry().abort(header);
        }
    }

    /// Returns a handle that can abort the task. The task can be detached although such a handle
    /// exists.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let abort = {
    ///     let task = gmp_exec::spawn(std::future::pending::<()>());
    ///     task.abort_handle()
    /// }; // the task is detached
    /// assert!(!abort.is_finished());
    /// abort.abort();
    /// # });
    /// ```
    pub fn abort_handle(&self) -> AbortHandle {
        match self.header() {
            Some(header) => AbortHandle::new(header),
            None => AbortHandle::finished(self.id),
        }
    }

    /// Returns whether the task has finished, so that a poll of the handle would return the output
    /// now.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let task = gmp_exec::spawn(async { 42 });
    /// while !task.is_finished() {
    ///     gmp_exec::task::yield_now().await;
    /// }
    /// assert_eq!(task.await.unwrap(), 42);
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.as_ref().is_none_or(|task| task.is_finished())
    }

    /// Returns the id of the task.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// let (one, other) = (gmp_exec::spawn(async {}), gmp_exec::spawn(async {}));
    /// assert_ne!(one.id(), other.id());
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    fn header(&self) -> Option<&Header> {
        self.task.as_ref().map(|task| task.metadata())
    }
}

impl<T> JoinHandle<T> {
    /// Polls without taking a unit of the budget. For [`JoinSet`](crate::task::JoinSet), which takes one
    /// unit for all of its handles.
    ///
    /// The waker must not panic when it is woken or dropped: async-task would abort the process.
    pub(in crate::task) fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Outcome<T>> {
        let outcome = ready!(Pin::new(self.unfinished()).poll(cx));
        self.task = None;
        Poll::Ready(outcome)
    }

    fn unfinished(&mut self) -> &mut async_task::Task<Outcome<T>, Header> {
        self.task.as_mut().expect("JoinHandle polled after completion")
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::poll_proceed(cx));
        self.is_awaited = true;
        let id = self.id;
        let polled = poll_guarded(Pin::new(self.unfinished()), id, cx);
        if polled.is_pending() {
            context::note_wait(Wait::Task(id));
        }
        let outcome = ready!(polled);
        unit.made_progress();
        self.task = None;
        Poll::Ready(outcome.into_result())
    }
}

/// async-task aborts the process when the waker of an awaiter panics. The wakers of this crate's
/// tasks never panic; other wakers are wrapped.
fn poll_guarded<F: Future>(future: Pin<&mut F>, awaited: Id, cx: &mut Context<'_>) -> Poll<F::Output> {
    if context::is_current_task(cx.waker()) && !Observer::is_of(cx.waker()) {
        return future.poll(cx);
    }
    future.poll(&mut Context::from_waker(&guarded(cx.waker(), awaited)))
}

#[cold]
fn guarded(waker: &Waker, awaited: Id) -> Waker {
    joining(waker, awaited).unwrap_or_else(|| Waker::from(Arc::new(CatchPanic(Some(waker.clone())))))
}

/// Wakes and drops a foreign waker, and contains its panics.
struct CatchPanic(Option<Waker>);

impl Wake for CatchPanic {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        contain(|| self.0.as_ref().inspect(|waker| waker.wake_by_ref()));
    }
}

impl Drop for CatchPanic {
    fn drop(&mut self) {
        contain(|| drop(self.0.take()));
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            if self.is_awaited { stop_waiting(task) } else { task.detach() }
        }
    }
}

/// Replaces the waker of a task that no longer awaits the handle, so that the waker is not called
/// any more.
#[cold]
fn stop_waiting<T>(mut task: async_task::Task<Outcome<T>, Header>) {
    if Pin::new(&mut task).poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        task.detach();
    }
}

impl<T> Unpin for JoinHandle<T> {}
impl<T> UnwindSafe for JoinHandle<T> {}
impl<T> RefUnwindSafe for JoinHandle<T> {}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("id", &self.id).field("is_finished", &self.is_finished()).finish()
    }
}
