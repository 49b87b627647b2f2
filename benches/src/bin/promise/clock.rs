//! The clocks that the standard library lacks.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that the calling thread has used.
pub(crate) fn thread_cpu() -> Duration {
    read(ClockId::ThreadCPUTime)
}

/// The reading of the clock that `Instant` uses, as a number that can be sent to another process.
pub(crate) fn monotonic() -> Duration {
    read(ClockId::Monotonic)
}

fn read(clock: ClockId) -> Duration {
    clock_gettime(clock).try_into().expect("neither clock goes below nothing")
}
