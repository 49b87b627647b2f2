//! What a task does with the thread that it holds.

use std::hint::spin_loop;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crate::clock;

#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Sleeps: the thread is gone, the core is free.
    Sleep(Duration),
    /// Computes, and the core is gone too, for so long by the clock on the wall: with more of them
    /// than cores each gets its share of a core only. Ends early at `stop`.
    ComputeUntil(Duration),
    /// Computes for so much CPU time, however long that takes.
    ComputeFor(Duration),
}

impl Way {
    /// Holds the calling thread.
    pub(crate) fn hold(self, stop: &AtomicBool) {
        match self {
            Way::Sleep(duration) => thread::sleep(duration),
            Way::ComputeUntil(duration) => compute_until(Instant::now() + duration, stop),
            Way::ComputeFor(duration) => compute_for(duration),
        }
    }
}

fn compute_until(end: Instant, stop: &AtomicBool) {
    while Instant::now() < end && !stop.load(Relaxed) {
        spin_loop();
    }
}

/// The clock of a thread is read by a system call, so it is read every few microseconds only: the
/// thread has to compute, and not to call.
pub(crate) fn compute_for(duration: Duration) {
    let end = clock::thread_cpu() + duration;
    while clock::thread_cpu() < end {
        (0..50).for_each(|_| spin_loop());
    }
}
