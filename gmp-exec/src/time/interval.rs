//! Ticks at regular moments.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::registration::Registration;
use super::resource::IntervalResource;
use super::{Instant, MissedTickBehavior, clamp_delay};

/// Ticks every `period`, for the first time at once.
///
/// The same as [`interval_at(Instant::now(), period)`](interval_at). A tick may be late by as much
/// as a [`sleep_until`](super::sleep_until) may. A late tick does not shift the next one.
///
/// # Panics
///
/// Panics if `period` is zero, outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, Instant, interval, sleep};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// let mut interval = interval(Duration::from_secs(2));
/// for _ in 0..5 {
///     interval.tick().await;
///     sleep(Duration::from_secs(1)).await; // work that takes a second does not shift the ticks
/// }
/// assert_eq!(start.elapsed(), Duration::from_secs(4 * 2 + 1));
/// # }
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert_period(period);
    interval_at(Instant::now(), period)
}

/// Ticks every `period`, for the first time at `start`.
///
/// # Panics
///
/// Panics if `period` is zero, outside a runtime, and if the runtime's timers are disabled.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, Instant, interval_at};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now() + Duration::from_millis(50);
/// let mut interval = interval_at(start, Duration::from_millis(10));
/// assert_eq!(interval.tick().await, start);
/// assert_eq!(interval.tick().await, start + Duration::from_millis(10));
/// # }
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert_period(period);
    Interval {
        next: Registration::new(start),
        period: clamp_delay(period),
        missed_tick_behavior: MissedTickBehavior::default(),
        resource: IntervalResource::new(),
    }
}

#[track_caller]
fn assert_period(period: Duration) {
    assert!(!period.is_zero(), "`period` must be non-zero.");
}

/// A tick that is taken later than this after its time is a missed tick. The value is tokio's,
/// which results from its resolution of 1 ms. It is kept because programs can observe how an
/// interval behaves after a delay of a few milliseconds.
const MISSED_AFTER: Duration = Duration::from_millis(5);

/// A series of ticks, made by [`interval`] and [`interval_at`]. Dropping it ends the series.
///
/// Unlike calls of [`sleep`](super::sleep()) in a loop, an interval also counts the time between
/// two waits. [`set_missed_tick_behavior`](Interval::set_missed_tick_behavior) chooses what happens
/// to missed ticks.
#[derive(Debug)]
pub struct Interval {
    next: Registration,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
    resource: IntervalResource,
}

impl Interval {
    /// Waits for the next tick and returns the moment for which it was due.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, no tick is lost.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let mut interval = interval(Duration::from_millis(10));
    /// let first = interval.tick().await;
    /// let second = interval.tick().await;
    /// assert_eq!(second - first, Duration::from_millis(10));
    /// # }
    /// ```
    pub async fn tick(&mut self) -> Instant {
        let tick = self.resource.tick();
        poll_fn(|cx| tick.poll(|| self.poll_tick(cx))).await
    }

    /// Ready with the moment for which the tick was due, if that moment has come. Otherwise the
    /// task is woken then. If several tasks poll, only the last one is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, interval};
    /// use std::future::poll_fn;
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let mut interval = interval(Duration::from_millis(10));
    /// let first = poll_fn(|cx| interval.poll_tick(cx)).await;
    /// let second = poll_fn(|cx| interval.poll_tick(cx)).await;
    /// assert_eq!(second - first, Duration::from_millis(10));
    /// # }
    /// ```
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.next.poll(cx));
        let due = self.next.deadline();
        let now = Instant::now();
        let next = if now > due + MISSED_AFTER {
            self.missed_tick_behavior.next_tick(due, now, self.period)
        } else {
            due + self.period
        };
        self.next.restart(next);
        Poll::Ready(due)
    }

    /// Makes the next tick due one period from now.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, interval, sleep};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut interval = interval(Duration::from_millis(100));
    /// interval.tick().await;
    /// sleep(Duration::from_millis(50)).await;
    /// interval.reset();
    /// interval.tick().await;
    /// assert_eq!(start.elapsed(), Duration::from_millis(150));
    /// # }
    /// ```
    pub fn reset(&mut self) {
        self.reset_at(Instant::now() + self.period);
    }

    /// Makes the next tick due now.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut interval = interval(Duration::from_millis(100));
    /// interval.tick().await;
    /// interval.reset_immediately();
    /// interval.tick().await;
    /// assert_eq!(start.elapsed(), Duration::ZERO);
    /// # }
    /// ```
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// Makes the next tick due when `after` has passed. Durations beyond 30 years count as 30
    /// years.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut interval = interval(Duration::from_millis(100));
    /// interval.tick().await;
    /// interval.reset_after(Duration::from_millis(20));
    /// interval.tick().await;
    /// interval.tick().await; // one period later
    /// assert_eq!(start.elapsed(), Duration::from_millis(20 + 100));
    /// # }
    /// ```
    pub fn reset_after(&mut self, after: Duration) {
        self.reset_at(Instant::now() + clamp_delay(after));
    }

    /// Makes the next tick due at `deadline`, and the following ones at intervals of one period
    /// from there.
    ///
    /// Ticks missed so far are forgotten. A deadline in the past is a missed tick, to which the
    /// [`MissedTickBehavior`] applies.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut interval = interval(Duration::from_millis(100));
    /// interval.tick().await;
    /// interval.reset_at(start + Duration::from_millis(30));
    /// interval.tick().await;
    /// interval.tick().await;
    /// assert_eq!(start.elapsed(), Duration::from_millis(130));
    /// # }
    /// ```
    pub fn reset_at(&mut self, deadline: Instant) {
        self.next.reset(deadline);
    }

    /// Returns what happens to missed ticks.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, MissedTickBehavior, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let interval = interval(Duration::from_millis(10));
    /// assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Burst);
    /// # }
    /// ```
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Sets what happens to missed ticks, from the next tick on.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, MissedTickBehavior, advance, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// let mut interval = interval(Duration::from_millis(50));
    /// interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    /// interval.tick().await;
    /// advance(Duration::from_millis(170)).await; // the program is busy
    /// interval.tick().await;
    /// interval.tick().await; // one period after the late tick
    /// assert_eq!(start.elapsed(), Duration::from_millis(170 + 50));
    /// # }
    /// ```
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// Returns the time between two ticks.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, interval};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(interval(Duration::from_millis(10)).period(), Duration::from_millis(10));
    /// # }
    /// ```
    pub fn period(&self) -> Duration {
        self.period
    }
}
