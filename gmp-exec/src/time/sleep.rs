//! A future that is ready at its deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::registration::Registration;
use super::{Instant, clamp_delay};

/// Waits until `deadline`, an [`Instant`] of the current runtime's clock.
///
/// The task is never woken before the deadline, and after it as soon as the kernel and a free processor allow. A sleep that
/// still has 2.1 ms or more to go when it is first polled may be woken later by a small part of that, so that tasks which
/// sleep at the same time wake up together, and the thread that wakes them wakes up once: by a 64th at most, and never by
/// more than 1.05 ms (tokio wakes every sleep up to 1 ms late). Shorter sleeps are not rounded, and nor are those on a clock
/// that was ever [paused](super::pause). A deadline in the past is ready at the first poll.
///
/// # Cancel safety
///
/// Dropping the [`Sleep`] cancels it; there is nothing to lose.
///
/// # Panics
///
/// Outside a runtime, and if the runtime's timers are disabled.
///
/// ```
/// use gmp_exec::time::{Duration, Instant, sleep_until};
///
/// # gmp_exec::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let deadline = Instant::now() + Duration::from_micros(300);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # });
/// ```
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { registration: Registration::new(deadline) }
}

/// Waits for `duration`, counted from this call and not from the first poll.
///
/// As [`sleep_until`], with the deadline `Instant::now() + duration`, and as late as that may be; durations beyond 30 years
/// count as 30 years. If the poll that made it takes until after the deadline, it may be pending once and then wake the task at
/// once.
/// For doing something at regular times see [`interval`](super::interval()).
///
/// # Cancel safety
///
/// Dropping the [`Sleep`] cancels it; there is nothing to lose.
///
/// # Panics
///
/// Outside a runtime, and if the runtime's timers are disabled.
///
/// ```
/// use gmp_exec::time::{Duration, sleep};
///
/// # gmp_exec::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// sleep(Duration::from_micros(50)).await;
/// println!("50 µs and a little have passed");
/// # });
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let duration = clamp_delay(duration);
    Sleep::ahead(Instant::now() + duration, duration)
}

pin_project! {
    /// The future made by [`sleep`] and [`sleep_until`].
    ///
    /// It belongs to the runtime that was current when it was made and can be polled anywhere, also on another runtime.
    /// It is not `Unpin`: to keep one and poll or [`reset`](Sleep::reset) it by turns, pin it with [`std::pin::pin!`] or
    /// [`Box::pin`].
    ///
    /// Polling panics once the runtime is being shut down.
    ///
    /// ```compile_fail,E0277
    /// fn must_be_unpin(_: impl Unpin) {}
    /// must_be_unpin(gmp_exec::time::sleep(gmp_exec::time::Duration::ZERO));
    /// ```
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    ///
    /// # gmp_exec::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
    /// let start = Instant::now();
    /// let mut idle = pin!(sleep(Duration::from_secs(30)));
    /// for _ in 0..3 {
    ///     // ... something happens, so the 30 seconds start again ...
    ///     idle.as_mut().reset(Instant::now() + Duration::from_secs(30));
    /// }
    /// idle.await;
    /// assert_eq!(start.elapsed(), Duration::from_secs(30));
    /// # });
    /// ```
    #[project(!Unpin)]
    #[derive(Debug)]
    #[must_use = "a Sleep waits only when it is awaited or polled"]
    pub struct Sleep {
        registration: Registration,
    }
}

impl Sleep {
    /// Until a `deadline` that is `distance` away from now.
    #[track_caller]
    pub(super) fn ahead(deadline: Instant, distance: Duration) -> Sleep {
        Sleep { registration: Registration::ahead(deadline, distance) }
    }

    /// The moment at which this sleep ends.
    pub fn deadline(&self) -> Instant {
        self.registration.deadline()
    }

    /// Whether the deadline has passed. A sleep that was neither polled nor reset has not begun, so it has not elapsed.
    ///
    /// ```
    /// use gmp_exec::time::{Duration, sleep};
    /// use std::pin::pin;
    ///
    /// # gmp_exec::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let mut nap = pin!(sleep(Duration::from_millis(1)));
    /// assert!(!nap.is_elapsed());
    /// nap.as_mut().await;
    /// assert!(nap.is_elapsed());
    /// # });
    /// ```
    pub fn is_elapsed(&self) -> bool {
        self.registration.is_elapsed()
    }

    /// Gives the sleep a new deadline, whether or not the old one has passed.
    ///
    /// A task that waits for the sleep goes on waiting, until the new deadline, without having to poll again. That costs less
    /// than making a new sleep.
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().registration.reset(deadline);
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().registration.poll(cx)
    }
}
