//! More polls of seconds than there are Ps and permits for tasks that compute: for how long does a
//! ticker stand still?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_benches::rt::{Gmp, Timers, Tokio};
use hdrhistogram::Histogram;

use super::{Figure, Numbers, Process};
use crate::args::Options;
use crate::histogram::millis;
use crate::ticker::{self, TICK};
use crate::way::{Way, compute_for};

const POLLS: usize = 8;
const LENGTH: Duration = Duration::from_secs(3);

/// Polls that have to wait until others have ended may take longer than this: then all of them are
/// ended.
const PATIENCE: Duration = Duration::from_secs(4);

pub(crate) const COMPUTING: Numbers = Numbers {
    name: "long polls: 8 compute 3 s",
    figures: &[Figure::wanted("longest gap of a ticker", "ms", 30.0, 10.0)],
    process: Process::This,
    gmp: |options| measure::<Gmp>(compute, options),
    tokio: Some(|options| measure::<Tokio>(compute, options)),
};

pub(crate) const MOSTLY_SLEEPING: Numbers = Numbers {
    name: "long polls: 8 compute 1 of 10 ms",
    gmp: |options| measure::<Gmp>(compute_and_sleep, options),
    tokio: Some(|options| measure::<Tokio>(compute_and_sleep, options)),
    ..COMPUTING
};

fn measure<R: Timers>(poll: fn(&AtomicBool), options: &Options) -> io::Result<Vec<f64>> {
    let rt = R::new(options.procs)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (ticks, ()) = ticker::beside(&rt, &stop, || {
        for _ in 0..POLLS {
            let stop = stop.clone();
            drop(rt.spawn_remote(async move { poll(&stop) }));
        }
        thread::sleep(PATIENCE);
    });
    rt.shutdown(Duration::from_secs(10));
    Ok(vec![longest_gap(&ticks)])
}

/// The longest gap between two ticks, in ms.
pub(crate) fn longest_gap(ticks: &Histogram<u64>) -> f64 {
    millis(ticks, 100.0) + TICK.as_secs_f64() * 1000.0
}

fn compute(stop: &AtomicBool) {
    Way::ComputeUntil(LENGTH).hold(stop);
}

/// Mostly waits, as a client of a database does, for example.
fn compute_and_sleep(stop: &AtomicBool) {
    let end = Instant::now() + LENGTH;
    while Instant::now() < end && !stop.load(Relaxed) {
        compute_for(Duration::from_millis(1));
        thread::sleep(Duration::from_millis(9));
    }
}
