//! The tasks that hold their thread.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use gmp_benches::rt::Rt;
use rustix::time::{ClockId, clock_gettime};

use crate::ticker::Stop;

#[derive(Clone, Copy)]
pub(crate) enum Load {
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
    pub(crate) fn start<R: Rt>(self, rt: &R, stop: &Stop) -> Vec<R::JoinHandle<()>> {
        match self {
            Load::Known(count, way) => (0..count).map(|_| rt.spawn_remote(hold::<R>(way, stop.clone()))).collect(),
            Load::Strangers(strangers) => {
                strangers.start(rt, stop);
                Vec::new()
            }
        }
    }
}

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
