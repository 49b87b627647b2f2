//! How a task holds its thread.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::ticker::Stop;

#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Sleeps: the thread is held, but the core is free.
    Sleep(Duration),
    /// Computes, so that the core is not free either, until this much real time has passed: if more
    /// tasks compute than there are cores, each gets only a share of a core. Ends early at `stop`.
    ComputeUntil(Duration),
    /// Computes until the thread has used this much CPU time.
    ComputeFor(Duration),
}

impl Way {
    /// Holds the calling thread.
    pub(crate) fn hold(self, stop: &Stop) {
        match self {
            Way::Sleep(duration) => thread::sleep(duration),
            Way::ComputeUntil(duration) => compute_until(Instant::now() + duration, stop),
            Way::ComputeFor(duration) => compute_for(duration),
        }
    }
}

fn compute_until(end: Instant, stop: &Stop) {
    while Instant::now() < end && !stop.is_set() {
        spin_loop();
    }
}

/// A system call reads the clock of a thread, so it is read only every few microseconds: the thread
/// should compute, not make calls.
pub(crate) fn compute_for(duration: Duration) {
    let end = clock(ClockId::ThreadCPUTime) + duration;
    while clock(ClockId::ThreadCPUTime) < end {
        (0..50).for_each(|_| spin_loop());
    }
}

/// The reading of a clock that the standard library lacks, or of the one that `Instant` uses, as a
/// number that can be sent to another process.
pub(crate) fn clock(id: ClockId) -> Duration {
    clock_gettime(id).try_into().expect("no clock goes below nothing")
}
