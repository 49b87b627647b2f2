//! A future that is ready at its deadline.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::registration::Registration;
use super::resource::SleepResource;
use super::{Instant, clamp_delay};

/// Waits until `deadline`, an [`Instant`] of the current runtime's clock.
///
/// The task is never woken before the deadline, and as soon after it as the kernel and a free
/// processor allow. A sleep that has 2.1 ms or more to go when it is first polled may end later by
/// a 64th of that time, but by 1.05 ms at most (tokio ends every sleep up to 1 ms late): so tasks
/// that sleep at the same time are woken together, by a thread that wakes up only once. Shorter
/// sleeps are not rounded, nor are sleeps on a clock that was ever [paused](super::pause()). A
/// deadline that passed a millisecond ago or more is ready at the first poll. A later deadline that
/// has passed is ready after the next look at the timers, as on tokio, so that tasks which were
/// woken earlier run first.
///
/// # Cancel safety
///
/// Cancel safe: dropping the [`Sleep`] cancels it and loses nothing.
///
/// # Panics
///
/// Panics outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, Instant, sleep_until};
///
/// # #[gmp_exec::main(flavor = "current_thread")]
/// # async fn main() {
/// let deadline = Instant::now() + Duration::from_micros(300);
/// sleep_until(deadline).await;
/// assert!(Instant::now() >= deadline);
/// # }
/// ```
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { registration: Registration::new(deadline), resource: SleepResource::new() }
}

/// Waits for `duration`, counted from this call and not from the first poll.
///
/// The same as [`sleep_until`] with the deadline `Instant::now() + duration`. Durations beyond 30
/// years count as 30 years. The sleep is never ready in the poll that made it, so
/// `sleep(Duration::ZERO)` yields. For regular ticks see [`interval`](super::interval()).
///
/// # Cancel safety
///
/// Cancel safe: dropping the [`Sleep`] cancels it and loses nothing.
///
/// # Panics
///
/// Panics outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, sleep};
///
/// # #[gmp_exec::main(flavor = "current_thread")]
/// # async fn main() {
/// sleep(Duration::from_micros(50)).await;
/// println!("50 µs and a little have passed");
/// # }
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let duration = clamp_delay(duration);
    Sleep::ahead(Instant::now() + duration, duration)
}

pin_project! {
    /// The future made by [`sleep`] and [`sleep_until`].
    ///
    /// A sleep belongs to the runtime that was current when it was made. It can be polled anywhere,
    /// even on another runtime. It is not `Unpin`: to poll it and [`reset`](Sleep::reset) it
    /// repeatedly, pin it with [`std::pin::pin!`] or [`Box::pin`].
    ///
    /// Polling a sleep panics once its runtime is being shut down.
    ///
    /// # Examples
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
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut idle = pin!(sleep(Duration::from_secs(30)));
    /// for _ in 0..3 {
    ///     // ... something happens, so the 30 seconds start again ...
    ///     idle.as_mut().reset(Instant::now() + Duration::from_secs(30));
    /// }
    /// idle.await;
    /// assert_eq!(start.elapsed(), Duration::from_secs(30));
    /// # }
    /// ```
    #[project(!Unpin)]
    #[derive(Debug)]
    #[must_use = "a Sleep waits only when it is awaited or polled"]
    pub struct Sleep {
        registration: Registration,
        resource: SleepResource,
    }
}

impl Sleep {
    /// A sleep until `deadline`, which is `distance` away from now.
    #[track_caller]
    pub(super) fn ahead(deadline: Instant, distance: Duration) -> Sleep {
        Sleep { registration: Registration::ahead(deadline, distance), resource: SleepResource::new() }
    }

    /// Returns the moment at which this sleep ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, sleep};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let nap = sleep(Duration::from_secs(1));
    /// assert_eq!(nap.deadline(), Instant::now() + Duration::from_secs(1));
    /// # }
    /// ```
    pub fn deadline(&self) -> Instant {
        self.registration.deadline()
    }

    /// Returns whether the deadline has passed. A sleep that was neither polled nor reset has not
    /// begun, so it has not elapsed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, sleep};
    /// use std::pin::pin;
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut nap = pin!(sleep(Duration::from_millis(1)));
    /// assert!(!nap.is_elapsed());
    /// nap.as_mut().await;
    /// assert!(nap.is_elapsed());
    /// # }
    /// ```
    pub fn is_elapsed(&self) -> bool {
        self.registration.is_elapsed()
    }

    /// Sets a new deadline, whether or not the old one has passed.
    ///
    /// A task that waits for the sleep now waits until the new deadline, and needn't poll the sleep
    /// again. This costs less than making a new sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut nap = pin!(sleep(Duration::from_secs(1)));
    /// nap.as_mut().reset(start + Duration::from_secs(5));
    /// nap.await;
    /// assert_eq!(start.elapsed(), Duration::from_secs(5));
    /// # }
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        this.resource.reset(deadline);
        this.registration.reset(deadline);
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let deadline = this.registration.deadline();
        this.resource.poll(deadline, || this.registration.poll(cx))
    }
}
