//! A future that must be ready by a deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::error::Elapsed;
use super::{Instant, Sleep, sleep_until};
use crate::task::coop;

/// Limits the time that `future` may take to `duration`, counted from this call.
///
/// The future is polled before the deadline is checked. So a future that is ready at its first poll
/// never times out. A poll of the future can't be interrupted: the deadline is checked when the
/// poll returns. If `duration` is too long to be added to the present moment, there is no limit.
/// The deadline may be noticed late, by as much as a [`sleep_until`] may end late.
///
/// # Errors
///
/// Returns [`Elapsed`] if the future is not ready when the deadline has passed.
///
/// # Cancel safety
///
/// When the deadline passes, the future is dropped with the [`Timeout`], in whatever state the
/// future is.
///
/// # Panics
///
/// Panics outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, sleep, timeout};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let slow = async { sleep(Duration::from_secs(2)).await };
/// assert!(timeout(Duration::from_secs(1), slow).await.is_err());
///
/// let quick = async { "done" };
/// assert_eq!(timeout(Duration::from_secs(1), quick).await, Ok("done"));
/// # }
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

/// Limits the time that `future` may take to the time until `deadline`.
///
/// In all other respects this is the same as [`timeout`]. Use it where several steps share one
/// deadline.
///
/// # Errors
///
/// Returns [`Elapsed`] if the future is not ready when the deadline has passed.
///
/// # Panics
///
/// Panics outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
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
/// # #[gmp_exec::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(request().await, Ok(2));
/// # }
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
        // `None` if the deadline is too far away to be represented.
        #[pin]
        delay: Option<Sleep>,
    }
}

impl<T> Timeout<T> {
    /// Returns the inner future.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, timeout};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limited = timeout(Duration::from_secs(1), std::future::ready(42));
    /// assert_eq!(limited.get_ref().clone().into_inner(), 42);
    /// # }
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// Returns the inner future as a mutable reference.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, timeout};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut limited = timeout(Duration::from_secs(1), std::future::ready(1));
    /// *limited.get_mut() = std::future::ready(42);
    /// assert_eq!(limited.await, Ok(42));
    /// # }
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Returns the inner future and cancels the deadline.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, timeout};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let limited = timeout(Duration::ZERO, std::future::ready(42));
    /// let unlimited = limited.into_inner();
    /// assert_eq!(unlimited.await, 42);
    /// # }
    /// ```
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

/// If the future spends the whole budget at every poll, the delay would always be pending, so in
/// this case the delay is polled without a budget. A separate function, because it needn't be
/// compiled for every `T`.
fn poll_delay(delay: Pin<&mut Sleep>, had_budget: bool, cx: &mut Context<'_>) -> Poll<Elapsed> {
    let polled = if had_budget && !coop::has_budget_remaining() {
        std::pin::pin!(coop::unconstrained(delay)).poll(cx)
    } else {
        delay.poll(cx)
    };
    polled.map(|()| Elapsed::new())
}
