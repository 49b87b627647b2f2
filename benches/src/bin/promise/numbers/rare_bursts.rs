//! Bursts of new tasks, so rare that the scheduler is no longer alert when they come: each burst
//! has its own worst tick.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use std::{io, thread};

use gmp_benches::measure::Samples;
use gmp_benches::rt::{Gmp, Rt, Tokio, Twin};

use super::{Figure, Numbers, on};
use crate::args::Options;
use crate::lateness::Strangers;
use crate::ticker;
use crate::way::Way;

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
fn measure<R: Twin>(options: &Options) -> io::Result<Vec<f64>> {
    let bursts = options.duration.div_duration_f64(BURST.every).ceil().max(2.0) as usize;
    let (stop, worst) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    on::<R, _>(options.procs, |rt| {
        let ticker = rt.spawn_remote(tick::<R>(stop.clone(), worst.clone()));
        let worsts = (0..bursts).map(|_| burst(rt, &stop, &worst)).collect();
        stop.store(true, Relaxed);
        rt.block_on(ticker).expect("the ticker doesn't panic");
        vec![Samples::new(worsts).median()]
    })
}

/// Ticks, and records the worst lateness.
async fn tick<R: Rt>(stop: Arc<AtomicBool>, worst: Arc<AtomicU64>) {
    ticker::each::<R>(&stop, |late| {
        worst.fetch_max(late.as_micros() as u64, Relaxed);
    })
    .await;
}

/// Waits for the quiet time and then lets a task spawn a burst; returns the lateness of the worst
/// tick in ms.
fn burst<R: Rt>(rt: &R, stop: &Arc<AtomicBool>, worst: &AtomicU64) -> f64 {
    thread::sleep(BURST.every - WINDOW);
    worst.store(0, Relaxed);
    let stop = stop.clone();
    drop(rt.spawn_remote(async move { BURST.burst::<R>(&stop) }));
    thread::sleep(WINDOW);
    worst.load(Relaxed) as f64 / 1000.0
}
