//! Waiting for moments in time: [`sleep`], [`timeout`], [`interval`], and a clock that tests may
//! stop.
//!
//! A runtime has many timers and nearly all of them are cancelled: a timeout exists in order not to
//! happen. So setting and cancelling must cost next to nothing, while firing may cost more. The
//! rule: every processor keeps its own timers under its own lock, cancelling takes a timer out
//! without searching for it, and a future registers only when it is polled and found too early.
//! What firing costs is mostly the thread that must wake up for it, so longer timers fire on a
//! grid, together (`grid`).
//!
//! Rejected: one timer wheel for the whole runtime. Its lock is fought over by all processors, and
//! its slots of one millisecond make every shorter sleep a long one. Here short sleeps are kept to
//! the nanosecond; how late a task then wakes up is a matter of the kernel and of how busy the
//! processors are.
//!
//! Everything here has tokio's names and meaning, panic messages included, apart from this finer
//! resolution. Missing is `time::error::Error`, tokio's errors of its timer driver: there is
//! nothing here that could return one.
//!
//! ```
//! use gmp_exec::time::{Duration, Instant, sleep, timeout};
//!
//! # gmp_exec::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
//! let start = Instant::now();
//! let answer = timeout(Duration::from_millis(20), sleep(Duration::from_secs(1))).await;
//! assert!(answer.is_err(), "the sleep takes longer than the timeout allows");
//! assert!(start.elapsed() >= Duration::from_millis(20));
//! # });
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

pub(crate) mod clock;

pub(crate) mod timers;

pub(crate) mod driver;

/// Shortens a delay to 30 years: for a program the same as for ever, but far from every overflow.
fn clamp_delay(delay: Duration) -> Duration {
    const LONGEST: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    delay.min(LONGEST)
}
