//! Sleeping, timeouts and intervals.

#[doc(inline)]
pub use gmp_exec::time::{
    Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout, interval, interval_at, sleep, sleep_until,
    timeout, timeout_at,
};
#[cfg(feature = "test-util")]
#[doc(inline)]
pub use gmp_exec::time::{advance, pause, resume};

pub mod error {
    //! The errors of timers.

    #[doc(inline)]
    pub use gmp_exec::time::error::Elapsed;
    #[doc(inline)]
    pub use tokio_real::time::error::Error;
}
