//! A saturated runtime, and every 100 ms a new task that sleeps for 50 ms: how much throughput do
//! the other tasks lose because the scheduler attends to the new one?

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use std::{io, thread};

use gmp_benches::rt::{Gmp, Timers, Tokio};

use super::{Figure, Numbers, Process};
use crate::args::Options;
use crate::lateness::Strangers;
use crate::way::{Way, compute_for};

const TASKS: usize = 64;
/// CPU time in each poll.
const COMPUTE: Duration = Duration::from_micros(50);

const STRANGER: Strangers =
    Strangers { count: 1, every: Duration::from_millis(100), way: Way::Sleep(Duration::from_millis(50)) };

/// The aim is the same as the limit.
pub(crate) const ROW: Numbers = Numbers {
    name: "saturated: one new sleeps 50 of 100 ms",
    figures: &[
        Figure::shown("polls without it", "1/s"),
        Figure::shown("polls beside it", "1/s"),
        Figure::wanted("loss", "%", 2.0, 2.0),
    ],
    process: Process::This,
    gmp: measure::<Gmp>,
    tokio: Some(measure::<Tokio>),
};

/// Four phases of half a repetition: without new tasks, beside them, beside them, without them. If
/// the machine becomes slower or faster in the meantime, both sums are affected alike.
fn measure<R: Timers>(options: &Options) -> io::Result<Vec<f64>> {
    let rt = R::new(options.procs)?;
    let (stop, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    for _ in 0..TASKS {
        drop(rt.spawn_remote(compute::<R>(stop.clone(), polls.clone())));
    }
    let part = options.duration / 2;
    let [first, second, third, last] =
        [false, true, true, false].map(|beside| phase(&rt, beside, || count(&polls, part)));
    stop.store(true, Relaxed);
    rt.shutdown(Duration::from_secs(10));
    let [without, beside] = [first + last, second + third].map(|polls| polls as f64 / (2.0 * part.as_secs_f64()));
    Ok(vec![without, beside, 100.0 * (1.0 - beside / without)])
}

/// Returns the result of `f`, which runs with or without new tasks.
fn phase<R: Timers, T>(rt: &R, strangers: bool, f: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    if strangers {
        STRANGER.start(rt, &stop);
    }
    let result = f();
    stop.store(true, Relaxed);
    // The last new task ends in this time, and so does the task that spawned it.
    thread::sleep(STRANGER.every);
    result
}

fn count(polls: &AtomicU64, duration: Duration) -> u64 {
    let before = polls.load(Relaxed);
    thread::sleep(duration);
    polls.load(Relaxed) - before
}

async fn compute<R: Timers>(stop: Arc<AtomicBool>, polls: Arc<AtomicU64>) {
    while !stop.load(Relaxed) {
        compute_for(COMPUTE);
        polls.fetch_add(1, Relaxed);
        R::yield_now().await;
    }
}
