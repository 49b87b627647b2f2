//! The budget of a poll: after 128 operations, resources return `Pending` although they are ready.
//!
//! A task that always finds its socket readable would never yield. Each resource of gmp (I/O,
//! timers, `JoinHandle`) therefore takes one unit of the budget before it makes progress. When no
//! unit is left, the resource wakes its task and returns `Pending`. The number 128 is tokio's.
//! Outside of a task there is no budget and nothing is limited.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::{context, seeded};

/// Operations per poll, as on tokio.
pub(crate) const UNITS: u8 = 128;

/// The units that are left; `None` where nothing is limited.
pub(crate) type Budget = Option<u8>;

/// Takes one unit of the running task's budget.
///
/// If no unit is left, wakes the task and returns `Pending`. Dropping the returned guard gives the
/// unit back, unless [`made_progress`](RestoreOnPending::made_progress) was called.
///
/// # Examples
///
/// ```
/// # use std::task::{Context, Poll, Waker};
/// use gmp_exec::task::coop;
/// // Outside of a task nothing is limited.
/// let mut cx = Context::from_waker(Waker::noop());
/// let Poll::Ready(unit) = coop::poll_proceed(&mut cx) else { panic!() };
/// unit.made_progress();
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    ready!(crate::task::leaf(cx));
    if yields_in_seeded_run(cx) {
        return Poll::Pending;
    }
    let before = context::budget();
    match before {
        Some(0) => {
            context::defer_forced(cx.waker());
            return Poll::Pending;
        }
        Some(left) => context::set_budget(Some(left - 1)),
        None => {}
    }
    Poll::Ready(RestoreOnPending { before, restore: true })
}

/// Whether a seeded run makes the future yield. Then the task will be woken. A future that a test
/// polls by itself, with a waker of its own, does not yield: such tests know when it is ready.
#[inline]
pub(crate) fn yields_in_seeded_run(cx: &Context<'_>) -> bool {
    if !seeded::is_on() {
        return false;
    }
    if context::budget().is_none() {
        // No task, but perhaps a thread that polls in a loop until another thread has done something.
        seeded::pause();
        return false;
    }
    if !seeded::must_yield() {
        return false;
    }
    let is_outermost = context::is_current_task(cx.waker()) || seeded::is_root(cx.waker());
    if is_outermost {
        context::defer_forced(cx.waker());
    }
    is_outermost
}

/// Gives a unit of the budget back when dropped, unless [`made_progress`](Self::made_progress) was
/// called.
#[derive(Debug)]
#[must_use]
pub struct RestoreOnPending {
    before: Budget,
    restore: bool,
}

impl RestoreOnPending {
    /// Spends the unit, because the operation made progress.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::coop::{self, poll_proceed};
    /// use std::{future::poll_fn, task::{Poll, ready}};
    ///
    /// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
    /// gmp_exec::spawn(async {
    ///     // A resource that is always ready: the budget makes it return `Pending` in the end.
    ///     let mut operations = 0;
    ///     poll_fn(|cx| {
    ///         while coop::has_budget_remaining() {
    ///             ready!(poll_proceed(cx)).made_progress();
    ///             operations += 1;
    ///         }
    ///         Poll::Ready(())
    ///     })
    ///     .await;
    ///     assert_eq!(operations, 128);
    /// })
    /// .await
    /// .unwrap();
    /// # });
    /// ```
    #[inline]
    pub fn made_progress(mut self) {
        self.restore = false;
    }
}

impl Drop for RestoreOnPending {
    #[inline]
    fn drop(&mut self) {
        if self.restore && self.before.is_some() {
            context::set_budget(self.before);
        }
    }
}

/// Returns whether the running task has budget left; `true` outside of a task.
///
/// # Examples
///
/// ```
/// assert!(gmp_exec::task::coop::has_budget_remaining());
/// ```
#[inline]
pub fn has_budget_remaining() -> bool {
    context::budget() != Some(0)
}

/// Takes one unit of the budget, and yields if no unit is left. For long loops that never wait.
///
/// # Cancel safety
///
/// Cancel safe: nothing is lost but the yield.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// for _ in 0..1_000 {
///     gmp_exec::task::coop::consume_budget().await;
/// }
/// # });
/// ```
pub async fn consume_budget() {
    poll_fn(|cx| {
        ready!(poll_proceed(cx)).made_progress();
        Poll::Ready(())
    })
    .await;
}

/// Polls `future` without a budget, so that resources never make it yield.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let answer = gmp_exec::task::coop::unconstrained(async { 42 }).await;
/// assert_eq!(answer, 42);
/// # });
/// ```
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

pin_project! {
    /// The future of [`unconstrained`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _budget = with_budget(None);
        self.project().future.poll(cx)
    }
}

/// Makes each poll of `future` that is ready cost one unit of the budget.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// let answer = gmp_exec::task::coop::cooperative(std::future::ready(42)).await;
/// assert_eq!(answer, 42);
/// # });
/// ```
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

pin_project! {
    /// The future of [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F: Future> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let unit = ready!(poll_proceed(cx));
        let output = ready!(self.project().future.poll(cx));
        unit.made_progress();
        Poll::Ready(output)
    }
}

/// Sets the budget until the guard is dropped.
#[inline]
pub(crate) fn with_budget(budget: Budget) -> ResetBudget {
    let before = context::budget();
    context::set_budget(budget);
    ResetBudget { before }
}

#[must_use]
pub(crate) struct ResetBudget {
    before: Budget,
}

impl Drop for ResetBudget {
    #[inline]
    fn drop(&mut self) {
        context::set_budget(self.before);
    }
}
