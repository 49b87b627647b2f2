//! For how long does a ticker stand still beside polls of seconds?

use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::measure::Samples;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio, Twin};
use gmp_exec::task::blocking;
use rustix::time::ClockId;
use tokio::io::AsyncWriteExt;

use super::{Figure, Numbers, Process, on};
use crate::Options;
use crate::load::{Strangers, Way, clock, compute_for};
use crate::ticker::{self, Span, Stop, TICK};

/// More polls than there are Ps and permits for tasks that compute.
pub(super) const COMPUTING: Numbers = Numbers::new(
    "long polls: 8 compute 3 s",
    &[Figure::wanted("longest gap of a ticker", "ms", 30.0, 10.0)],
    |options| beside_polls::<Gmp>(compute, options),
    Some(|options| beside_polls::<Tokio>(compute, options)),
);

pub(super) const MOSTLY_SLEEPING: Numbers = Numbers::new(
    "long polls: 8 compute 1 of 10 ms",
    COMPUTING.figures,
    |options| beside_polls::<Gmp>(compute_and_sleep, options),
    Some(|options| beside_polls::<Tokio>(compute_and_sleep, options)),
);

/// Do sections that may block hide from the scheduler that a poll computes? tokio has no sections:
/// its `block_in_place` gives the worker away until the poll ends.
pub(super) const EMPTY_SECTIONS: Numbers = Numbers::new(
    "sections: 1 P, an empty one each 4 ms",
    &[Figure::wanted("longest gap of a ticker", "ms", 30.0, 12.0)],
    |_| beside_sections::<Gmp, _>(enter),
    None,
);

/// On gmp, writing to standard output is such a section.
pub(super) const STDOUT: Numbers = Numbers {
    process: Process::Own,
    ..Numbers::new(
        "sections: 1 P, a line to stdout each 4 ms",
        EMPTY_SECTIONS.figures,
        |_| beside_sections::<Gmp, _>(write::<Gmp>),
        Some(|_| beside_sections::<Tokio, _>(write::<Tokio>)),
    )
};

fn beside_polls<R: Io>(poll: fn(&Stop), options: &Options) -> Result<Vec<f64>> {
    on::<R, _>(options.procs, |rt| {
        let stop = Stop::default();
        let (ticks, ()) = ticker::beside(rt, &stop, || {
            for _ in 0..8 {
                let stop = stop.clone();
                drop(rt.spawn_remote(async move { poll(&stop) }));
            }
            // Polls that have to wait for others may take longer: then all of them are ended.
            thread::sleep(Duration::from_secs(4));
        });
        vec![longest_gap(&ticks)]
    })
}

const POLL: Duration = Duration::from_secs(3);

fn compute(stop: &Stop) {
    Way::ComputeUntil(POLL).hold(stop);
}

/// Mostly waits, as a client of a database does, for example.
fn compute_and_sleep(stop: &Stop) {
    let end = Instant::now() + POLL;
    while Instant::now() < end && !stop.is_set() {
        compute_for(Duration::from_millis(1));
        thread::sleep(Duration::from_millis(9));
    }
}

fn beside_sections<R: Io, F>(poll: fn(Instant) -> F) -> Result<Vec<f64>>
where
    F: Future<Output = ()> + Send + 'static,
{
    on::<R, _>(1, |rt| {
        let (ticks, ()) = ticker::beside(rt, &Stop::default(), || {
            // The ticker must tick before it is disturbed.
            thread::sleep(Duration::from_millis(100));
            let task = rt.spawn_remote(poll(Instant::now() + Duration::from_secs(2)));
            rt.block_on(task).expect("the task that computes doesn't panic");
        });
        vec![longest_gap(&ticks)]
    })
}

async fn enter(end: Instant) {
    while Instant::now() < end {
        compute_until_section();
        blocking(|| ());
    }
}

/// The parent holds the pipe, which has room for all of the output.
async fn write<R: Io>(end: Instant) {
    let mut stdout = R::stdout();
    while Instant::now() < end {
        compute_until_section();
        stdout.write_all(b"x\n").await.expect("standard output can be written to");
    }
}

fn compute_until_section() {
    Way::ComputeUntil(Duration::from_millis(4)).hold(&Stop::default());
}

/// The longest gap between two ticks, in ms.
fn longest_gap(ticks: &[Span]) -> f64 {
    ticker::lateness(ticks).millis_at(100.0) + TICK.as_secs_f64() * 1000.0
}

/// Bursts of new tasks, so rare that the scheduler is not alert: each has its own worst tick.
const BURST: Strangers =
    Strangers { count: 16, every: Duration::from_millis(1500), way: Way::Sleep(Duration::from_millis(50)) };

/// The longest time until a tick that the burst has delayed: 16 times 50 ms on one worker.
const WINDOW: Duration = Duration::from_millis(800);

pub(super) const RARE_BURSTS: Numbers = Numbers::new(
    "rare bursts: 16 new, sleep 50 ms",
    &[Figure::wanted("worst tick of a burst", "ms", 3.0, 1.0)],
    rare_bursts::<Gmp>,
    Some(rare_bursts::<Tokio>),
);

/// The median of the bursts' worst ticks, of at least two bursts.
fn rare_bursts<R: Twin>(options: &Options) -> Result<Vec<f64>> {
    let bursts = options.duration.div_duration_f64(BURST.every).ceil().max(2.0) as usize;
    on::<R, _>(options.procs, |rt| {
        let stop = Stop::default();
        let (ticks, windows) = ticker::beside(rt, &stop, || (0..bursts).map(|_| burst(rt, &stop)).collect::<Vec<_>>());
        let worst = |Span(from, to): Span| {
            let ticks = ticks.iter().filter(|tick| (from..to).contains(&tick.1));
            ticks.map(Span::length).max().unwrap_or_default().as_secs_f64() * 1000.0
        };
        vec![Samples::new(windows.into_iter().map(worst).collect()).median()]
    })
}

/// Waits, then lets a task spawn a burst; returns when ticks may be late because of it.
fn burst<R: Rt>(rt: &R, stop: &Stop) -> Span {
    thread::sleep(BURST.every - WINDOW);
    let from = clock(ClockId::Monotonic);
    let stop = stop.clone();
    drop(rt.spawn_remote(async move { BURST.burst::<R>(&stop) }));
    thread::sleep(WINDOW);
    Span(from, clock(ClockId::Monotonic))
}
