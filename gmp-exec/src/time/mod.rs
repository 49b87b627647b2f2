//! Timers: [`sleep()`], [`timeout()`], [`interval()`], and a clock that tests can pause.
//!
//! A runtime has many timers, and nearly all of them are cancelled, because most timeouts never
//! elapse. So setting and cancelling must be very cheap, while firing may cost more. Every
//! processor has its own timers under its own lock, cancelling removes a timer without a search,
//! and a future sets its timer only when it is polled before its deadline. The main cost of firing
//! is that a thread must wake up, so longer timers fire together, on a grid (`grid`).
//!
//! Rejected: one timer wheel for the whole runtime. All processors would contend for its lock, and
//! its slots of one millisecond would lengthen every shorter sleep. Here short sleeps keep their
//! deadline to the nanosecond; how late the task then wakes up depends on the kernel and on how
//! busy the processors are.
//!
//! All names and meanings are tokio's, including panic messages, except for this finer resolution.
//! `time::error::Error`, tokio's errors of its timer driver, is missing, because no function here
//! could return it.
//!
//! ```
//! use gmp_exec::time::{Duration, Instant, sleep, timeout};
//!
//! # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let start = Instant::now();
//! let answer = timeout(Duration::from_millis(20), sleep(Duration::from_secs(1))).await;
//! assert!(answer.is_err(), "the sleep takes longer than the timeout allows");
//! assert!(start.elapsed() >= Duration::from_millis(20));
//! # }
//! ```

mod sleep;
pub use sleep::{Sleep, sleep, sleep_until};

mod timeout;
pub use timeout::{Timeout, timeout, timeout_at};

mod interval;
pub use interval::{Interval, interval, interval_at};

mod missed_tick;
pub use missed_tick::MissedTickBehavior;

mod instant;
pub use instant::Instant;

mod pause;
pub use pause::{advance, pause, resume};

pub mod error;

#[doc(no_inline)]
pub use std::time::Duration;

mod grid;

mod registration;
#[cfg(feature = "tracing")]
mod resource;
#[cfg(not(feature = "tracing"))]
#[path = "no_resource.rs"]
mod resource;

pub(crate) mod clock;

pub(crate) mod timers;

pub(crate) mod driver;

/// Limits a delay to 30 years: longer than any program runs, but far from every overflow.
fn clamp_delay(delay: Duration) -> Duration {
    const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    delay.min(LONGEST)
}
