//! A future that must be ready by a deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::error::Elapsed;
use super::{Instant, Sleep, sleep_until};
use crate::task::coop;

/// Gives `future` the time `duration`, counted from this call, to finish.
///
/// The future is polled before the deadline is looked at. A future that is ready at its first poll
/// therefore wins against every deadline; and one that holds its thread can't be interrupted: the
/// timeout is seen when its poll returns. A `duration` too long to be added to the present moment
/// is no limit at all. The deadline may be noticed as late as the end of a [`sleep_until`].
///
/// # Errors
///
/// Awaiting gives [`Elapsed`] if the future is not ready when the deadline has passed.
///
/// # Cancel safety
///
/// When the deadline passes, the future is dropped with the [`Timeout`], wherever it stands.
///
/// # Panics
///
/// Outside a runtime, and if the runtime's timers are disabled.
///
/// ```
/// use gmp_exec::time::{Duration, sleep, timeout};
///
/// # gmp_exec::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// let slow = async { sleep(Duration::from_secs(2)).await };
/// assert!(timeout(Duration::from_secs(1), slow).await.is_err());
///
/// let quick = async { "done" };
/// assert_eq!(timeout(Duration::from_secs(1), quick).await, Ok("done"));
/// # });
/// ```
#[track_caller]
pub fn timeout<F>(duration: Duration, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    match Instant::now().checked_add(duration) {
        Some(deadline) => Timeout { value: future.into_future(), delay: Some(Sleep::ahead(deadline, duration)) },
        None => Timeout { value: future.into_future(), delay: None },
    }
}

/// Gives `future` until `deadline` to finish.
///
/// As [`timeout`] in everything else; use it where several steps share one deadline.
///
/// # Errors
///
/// Awaiting gives [`Elapsed`] if the future is not ready when the deadline has passed.
///
/// # Panics
///
/// Outside a runtime, and if the runtime's timers are disabled.
///
/// ```
/// use gmp_exec::time::{Duration, Instant, error::Elapsed, timeout_at};
///
/// # async fn connect() -> u32 { 1 }
/// # async fn ask(_: u32) -> u32 { 2 }
/// async fn request() -> Result<u32, Elapsed> {
///     let deadline = Instant::now() + Duration::from_secs(5);
///     let connection = timeout_at(deadline, connect()).await?;
///     timeout_at(deadline, ask(connection)).await
/// }
/// # gmp_exec::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// assert_eq!(request().await, Ok(2));
/// # });
/// ```
#[track_caller]
pub fn timeout_at<F>(deadline: Instant, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout { value: future.into_future(), delay: Some(sleep_until(deadline)) }
}

pin_project! {
    /// The future made by [`timeout`] and [`timeout_at`].
    #[derive(Debug)]
    #[must_use = "a Timeout runs its future only when it is awaited or polled"]
    pub struct Timeout<T> {
        #[pin]
        value: T,
        // None: the deadline is too far away to be represented.
        #[pin]
        delay: Option<Sleep>,
    }
}

impl<T> Timeout<T> {
    /// The future inside.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The future inside, mutable.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Takes the future out and cancels the deadline.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Future for Timeout<T>
where
    T: Future,
{
    type Output = Result<T::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let had_budget = coop::has_budget_remaining();
        if let Poll::Ready(output) = this.value.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        match this.delay.as_pin_mut() {
            Some(delay) => poll_delay(delay, had_budget, cx).map(Err),
            None => Poll::Pending,
        }
    }
}

/// A future that eats the whole budget at every poll would keep the delay from ever being looked
/// at, so then, and only then, the delay is free of charge. Apart from `Timeout::poll`, because it
/// need not be compiled for every `T`.
fn poll_delay(delay: Pin<&mut Sleep>, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    let polled = if had_budget && !coop::has_budget_remaining() {
        std::pin::pin!(coop::unconstrained(delay)).poll(cx)
    } else {
        delay.poll(cx)
    };
    polled.map(|()| Elapsed::new())
}
