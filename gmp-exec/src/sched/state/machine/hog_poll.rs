//! How the poll of a known hog began.

use std::time::{Duration, Instant};

/// How the poll of a known hog began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HogPoll {
    pub(in crate::sched) at: Instant,
    /// How long its thread had been runnable.
    pub(in crate::sched) runnable: Duration,
}
