//! Tasks that the scheduler has never seen before: each holds its thread once and ends.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use gmp_benches::rt::Timers;

use crate::way::Way;

/// Bursts of `count` new tasks at a fixed interval.
#[derive(Clone, Copy)]
pub(crate) struct Strangers {
    pub(crate) count: usize,
    pub(crate) every: Duration,
    pub(crate) way: Way,
}

impl Strangers {
    pub(crate) fn start<R: Timers>(self, rt: &R, stop: &Arc<AtomicBool>) {
        drop(rt.spawn_remote(self.bursts::<R>(stop.clone())));
    }

    /// A task of the runtime makes the bursts, as a task that accepts connections would. Their due
    /// moments don't move when the task comes late, and it makes up for bursts that it has missed:
    /// a side that can't keep up gets the same load as one that can.
    async fn bursts<R: Timers>(self, stop: Arc<AtomicBool>) {
        let mut due = Instant::now();
        while !stop.load(Relaxed) {
            while due <= Instant::now() {
                self.burst::<R>(&stop);
                due += self.every;
            }
            R::sleep(due.saturating_duration_since(Instant::now())).await;
        }
    }

    /// Spawns one burst from the calling task.
    pub(crate) fn burst<R: Timers>(self, stop: &Arc<AtomicBool>) {
        for _ in 0..self.count {
            drop(R::spawn(stranger(self.way, stop.clone())));
        }
    }
}

/// Does nothing if the repetition has ended while this task was queued. Otherwise a side that can't
/// keep up would take many times as long to end as it was measured.
async fn stranger(way: Way, stop: Arc<AtomicBool>) {
    if !stop.load(Relaxed) {
        way.hold(&stop);
    }
}
