//! Bursts of new tasks, so rare that the scheduler is not alert: each has its own worst tick.

use std::thread;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::measure::Samples;
use gmp_benches::rt::{Gmp, Rt, Tokio, Twin};
use rustix::time::ClockId;

use super::{Figure, Numbers, on};
use crate::Options;
use crate::load::{Strangers, Way, clock};
use crate::ticker::{self, Span, Stop};

const BURST: Strangers =
    Strangers { count: 16, every: Duration::from_millis(1500), way: Way::Sleep(Duration::from_millis(50)) };

/// The longest time until a tick that the burst has delayed: 16 times 50 ms on one worker.
const WINDOW: Duration = Duration::from_millis(800);

pub(super) const ROW: Numbers = Numbers::new(
    "rare bursts: 16 new, sleep 50 ms",
    &[Figure::wanted("worst tick of a burst", "ms", 3.0, 1.0)],
    measure::<Gmp>,
    Some(measure::<Tokio>),
);

/// The median of the bursts' worst ticks, of at least two bursts.
fn measure<R: Twin>(options: &Options) -> Result<Vec<f64>> {
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
