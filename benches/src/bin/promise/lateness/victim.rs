//! The task whose lateness is measured.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use gmp_benches::rt::{Rt, Timers};
use hdrhistogram::Histogram;

use crate::ticker;

#[derive(Clone, Copy)]
pub(crate) enum Victim {
    /// A task that wants to run every millisecond.
    Ticker,
    /// A task that does nothing, spawned every millisecond by a thread outside of the runtime: the
    /// time until the task has run. The thread doesn't wait for the tasks, so tasks that are queued
    /// behind a late one are late, too, and count.
    OutsideSpawn,
}

impl Victim {
    /// Starts the measurement; a ticker starts at once.
    pub(crate) fn start<R: Timers>(self, rt: &R, stop: &Arc<AtomicBool>) -> Watch<R> {
        match self {
            Victim::Ticker => Watch::Ticker(rt.spawn_remote(ticker::tick::<R>(stop.clone()))),
            Victim::OutsideSpawn => Watch::Spawns(mpsc::channel()),
        }
    }

    /// The victim's name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Victim::Ticker => "ticker",
            Victim::OutsideSpawn => "outside_spawn",
        }
    }
}

/// A victim during the measurement.
pub(crate) enum Watch<R: Rt> {
    Ticker(R::JoinHandle<Histogram<u64>>),
    Spawns((mpsc::Sender<Duration>, mpsc::Receiver<Duration>)),
}

impl<R: Rt> Watch<R> {
    /// Called every millisecond by a thread outside of the runtime.
    pub(crate) fn tick(&self, rt: &R) {
        if let Watch::Spawns((waits, _)) = self {
            let (waits, start) = (waits.clone(), Instant::now());
            // The receiver may be gone: the measurement has ended.
            drop(rt.spawn_remote(async move { waits.send(start.elapsed()).unwrap_or_default() }));
        }
    }

    /// Waits for results that are still to come, and returns the lateness of all ticks.
    pub(crate) fn end(self, rt: &R) -> Histogram<u64> {
        match self {
            Watch::Ticker(ticker) => rt.block_on(ticker).expect("the ticker doesn't panic"),
            Watch::Spawns((sender, waits)) => {
                drop(sender);
                ticker::histogram_of(waits)
            }
        }
    }
}
