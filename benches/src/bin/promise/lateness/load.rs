//! The tasks that hold their thread.

use std::time::{Duration, Instant};

use gmp_benches::rt::Rt;

use crate::ticker::Stop;
use crate::way::Way;

#[derive(Clone, Copy)]
pub(super) enum Load {
    /// A number of tasks, which all run from the start to the end of a repetition: they hold their
    /// thread again and again, and the scheduler knows them after their first poll.
    Known(usize, Way),
    Strangers(Strangers),
}

/// Bursts of `count` tasks at a fixed interval, which the scheduler has never seen before: each
/// holds its thread once and ends.
#[derive(Clone, Copy)]
pub(crate) struct Strangers {
    pub(crate) count: usize,
    pub(crate) every: Duration,
    pub(crate) way: Way,
}

impl Load {
    /// Starts the load. Returns the tasks that end at `stop` and must be awaited.
    pub(super) fn start<R: Rt>(self, rt: &R, stop: &Stop) -> Vec<R::JoinHandle<()>> {
        match self {
            Load::Known(count, way) => (0..count).map(|_| rt.spawn_remote(hold::<R>(way, stop.clone()))).collect(),
            Load::Strangers(strangers) => {
                strangers.start(rt, stop);
                Vec::new()
            }
        }
    }
}

/// Holds the thread, yields, and repeats that until `stop`.
async fn hold<R: Rt>(way: Way, stop: Stop) {
    while !stop.is_set() {
        way.hold(&stop);
        R::yield_now().await;
    }
}

impl Strangers {
    pub(crate) fn start<R: Rt>(self, rt: &R, stop: &Stop) {
        drop(rt.spawn_remote(self.bursts::<R>(stop.clone())));
    }

    /// A task of the runtime makes the bursts, as a task that accepts connections would. Their due
    /// moments don't move when the task comes late, and it makes up for bursts that it has missed:
    /// a side that can't keep up gets the same load as one that can.
    async fn bursts<R: Rt>(self, stop: Stop) {
        let mut due = Instant::now();
        while !stop.is_set() {
            while due <= Instant::now() {
                self.burst::<R>(&stop);
                due += self.every;
            }
            R::sleep(due.saturating_duration_since(Instant::now())).await;
        }
    }

    /// Spawns one burst from the calling task.
    ///
    /// A task does nothing if the repetition has ended while it was queued. Otherwise a side that
    /// can't keep up would take many times as long to end as it was measured.
    pub(crate) fn burst<R: Rt>(self, stop: &Stop) {
        for _ in 0..self.count {
            let stop = stop.clone();
            drop(R::spawn(async move {
                if !stop.is_set() {
                    self.way.hold(&stop);
                }
            }));
        }
    }
}
