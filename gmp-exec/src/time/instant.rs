//! A moment on the runtime's clock.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use super::clock;
use crate::context;

/// A moment in time, as the current runtime's clock shows it.
///
/// It differs from [`std::time::Instant`] in one point: [`Instant::now`] reads the clock of the
/// current runtime, which [`pause`](super::pause()) stops and [`advance`](super::advance) moves.
/// Outside a runtime, and if the clock was never paused, it reads the system's monotonic clock. The
/// resolution is one nanosecond.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{Duration, Instant, sleep};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// sleep(Duration::from_secs(3_600)).await;
/// assert_eq!(start.elapsed(), Duration::from_secs(3_600)); // but only on the paused clock
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    std: std::time::Instant,
}

impl Instant {
    /// Returns the present moment.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::Instant;
    ///
    /// let earlier = Instant::now();
    /// assert!(Instant::now() >= earlier);
    /// ```
    pub fn now() -> Instant {
        if clock::any_clock_was_paused() {
            now_of_current_runtime()
        } else {
            Instant::from_std(std::time::Instant::now())
        }
    }

    /// Converts a [`std::time::Instant`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::Instant;
    ///
    /// let std = std::time::Instant::now();
    /// assert_eq!(Instant::from_std(std).into_std(), std);
    /// ```
    pub fn from_std(std: std::time::Instant) -> Instant {
        Instant { std }
    }

    /// Converts the moment to a [`std::time::Instant`].
    ///
    /// After the clock was paused, its moments differ from the system's time and should not be
    /// compared with [`std::time::Instant::now`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::Instant;
    ///
    /// let before = std::time::Instant::now();
    /// let now = Instant::now().into_std();
    /// assert!(now >= before);
    /// ```
    pub fn into_std(self) -> std::time::Instant {
        self.std
    }

    /// The time from `earlier` to this moment, or zero if `earlier` is the later one.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_millis(3);
    /// assert_eq!(second.duration_since(first), Duration::from_millis(3));
    /// assert_eq!(first.duration_since(second), Duration::ZERO);
    /// ```
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.std.saturating_duration_since(earlier.std)
    }

    /// The time from `earlier` to this moment, or `None` if `earlier` is the later one.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_millis(3);
    /// assert_eq!(second.checked_duration_since(first), Some(Duration::from_millis(3)));
    /// assert_eq!(first.checked_duration_since(second), None);
    /// assert_eq!(first.saturating_duration_since(second), Duration::ZERO);
    /// ```
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.std.checked_duration_since(earlier.std)
    }

    /// The time from `earlier` to this moment, or zero if `earlier` is the later one.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_millis(3);
    /// assert_eq!(second.saturating_duration_since(first), Duration::from_millis(3));
    /// assert_eq!(first.saturating_duration_since(second), Duration::ZERO);
    /// ```
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.std.saturating_duration_since(earlier.std)
    }

    /// Returns the time from this moment to now, or zero if this moment is in the future.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant, advance};
    ///
    /// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let start = Instant::now();
    /// advance(Duration::from_secs(10)).await;
    /// assert_eq!(start.elapsed(), Duration::from_secs(10));
    /// # }
    /// ```
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// The moment `duration` later, or `None` if the platform can't represent it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant};
    ///
    /// let now = Instant::now();
    /// assert_eq!(now.checked_add(Duration::from_secs(1)), Some(now + Duration::from_secs(1)));
    /// assert_eq!(now.checked_add(Duration::MAX), None);
    /// ```
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.std.checked_add(duration).map(Instant::from_std)
    }

    /// Returns the moment `duration` earlier, or `None` if the platform can't represent it.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::time::{Duration, Instant};
    ///
    /// let now = Instant::now();
    /// let later = now + Duration::from_secs(1);
    /// assert_eq!(later.checked_sub(Duration::from_secs(1)), Some(now));
    /// ```
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.std.checked_sub(duration).map(Instant::from_std)
    }
}

#[cold]
fn now_of_current_runtime() -> Instant {
    context::with_current(|scheduler| {
        Instant::from_std(scheduler.map_or_else(std::time::Instant::now, |scheduler| scheduler.clock.now()))
    })
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.std.fmt(f)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(std: std::time::Instant) -> Instant {
        Instant::from_std(std)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> std::time::Instant {
        instant.into_std()
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// Panics if the platform can't represent the sum; see [`Instant::checked_add`].
    fn add(self, duration: Duration) -> Instant {
        Instant::from_std(self.std + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    /// # Panics
    ///
    /// Panics if the platform can't represent the difference; see [`Instant::checked_sub`].
    fn sub(self, duration: Duration) -> Instant {
        Instant::from_std(self.std - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}
