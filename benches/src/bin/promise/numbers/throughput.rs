//! Many short polls: what do they cost, and do they get through?

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::process;
use gmp_benches::rt::{Gmp, Rt, Tokio, Twin};

use super::{Figure, Numbers, on};
use crate::Options;
use crate::load::{Strangers, Way, compute_for};
use crate::ticker::{self, Stop};

const TASKS: usize = 64;

/// Polls of 30 µs of sleep: giving each another thread would cost more CPU time than it is worth.
/// The goal is a ratio to an older build of gmp, so the numbers have no limit.
pub(super) const SHORT_SLEEPS: Numbers = Numbers::new(
    "short sleeps: 64 tasks, 30 us a poll",
    &[
        Figure::shown("CPU time of 1000 polls", "ms"),
        Figure::shown("polls", "1/s"),
        Figure::shown("CPU, of one core", "%"),
        Figure::shown("ticker p99", "ms"),
        Figure::shown("ticker max", "ms"),
    ],
    short_sleeps::<Gmp>,
    Some(short_sleeps::<Tokio>),
);

/// How much throughput do tasks lose because the scheduler attends to new ones?
pub(super) const SATURATED: Numbers = Numbers::new(
    "saturated: one new sleeps 50 of 100 ms",
    &[
        Figure::shown("polls without it", "1/s"),
        Figure::shown("polls beside it", "1/s"),
        Figure::wanted("loss", "%", 2.0, 2.0),
    ],
    saturated::<Gmp>,
    Some(saturated::<Tokio>),
);

fn short_sleeps<R: Twin>(options: &Options) -> Result<Vec<f64>> {
    let (stop, polls) = (Stop::default(), Arc::new(AtomicU64::new(0)));
    let (ticks, (cpu, polls)) = on::<R, _>(options.procs, |rt| {
        ticker::beside(rt, &stop, || {
            start(rt, &stop, &polls, || thread::sleep(Duration::from_micros(30)));
            let before = process::cpu_time();
            polls.store(0, Relaxed);
            thread::sleep(options.duration);
            ((process::cpu_time() - before).as_secs_f64(), polls.load(Relaxed) as f64)
        })
    })?;
    let secs = options.duration.as_secs_f64();
    let [p99, max] = [99.0, 100.0].map(|percent| ticker::lateness(&ticks).millis_at(percent));
    Ok(vec![cpu * 1000.0 / (polls / 1000.0), polls / secs, 100.0 * cpu / secs, p99, max])
}

/// Four phases of half a repetition: without new tasks, beside them, beside them, without them. If
/// the machine becomes slower or faster in the meantime, both sums are affected alike.
fn saturated<R: Twin>(options: &Options) -> Result<Vec<f64>> {
    let part = options.duration / 2;
    on::<R, _>(options.procs, |rt| {
        let (stop, polls) = (Stop::default(), Arc::new(AtomicU64::new(0)));
        start(rt, &stop, &polls, || compute_for(Duration::from_micros(50)));
        let [first, second, third, last] = [false, true, true, false].map(|beside| phase(rt, beside, &polls, part));
        stop.set();
        let [without, beside] = [first + last, second + third].map(|polls| polls as f64 / (2.0 * part.as_secs_f64()));
        vec![without, beside, 100.0 * (1.0 - beside / without)]
    })
}

/// Counts the polls in this time, with or without new tasks.
fn phase<R: Rt>(rt: &R, strangers: bool, polls: &AtomicU64, duration: Duration) -> u64 {
    let way = Way::Sleep(Duration::from_millis(50));
    let stranger = Strangers { count: 1, every: Duration::from_millis(100), way };
    let stop = Stop::default();
    if strangers {
        stranger.start(rt, &stop);
    }
    let before = polls.load(Relaxed);
    thread::sleep(duration);
    let count = polls.load(Relaxed) - before;
    stop.set();
    // The last new task ends in this time, and so does the task that spawned it.
    thread::sleep(stranger.every);
    count
}

/// Starts tasks that do `work` in each poll.
fn start<R: Rt>(rt: &R, stop: &Stop, polls: &Arc<AtomicU64>, work: fn()) {
    for _ in 0..TASKS {
        let (stop, polls) = (stop.clone(), polls.clone());
        drop(rt.spawn_remote(async move {
            while !stop.is_set() {
                work();
                polls.fetch_add(1, Relaxed);
                R::yield_now().await;
            }
        }));
    }
}
