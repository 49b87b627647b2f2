//! The clocks that the standard library doesn't have.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that the calling thread has had.
pub(crate) fn thread_cpu() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// What `Instant` counts, as a number that another process can be told.
pub(crate) fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

fn read(clock: ClockId) -> Duration {
    clock_gettime(clock).try_into().expect("neither clock goes below nothing")
}
