//! Polls that sleep for only 30 µs: giving each of them another thread would cost more CPU time
//! than it is worth. The goal is a ratio to an older build of gmp, so the numbers are shown without
//! a limit.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use std::{io, thread};

use gmp_benches::process;
use gmp_benches::rt::{Gmp, Timers, Tokio};

use super::{Figure, Numbers, Process};
use crate::args::Options;
use crate::histogram::millis;
use crate::ticker;

const TASKS: usize = 64;
const SLEEP: Duration = Duration::from_micros(30);

pub(crate) const ROW: Numbers = Numbers {
    name: "short sleeps: 64 tasks, 30 us a poll",
    figures: &[
        Figure::shown("CPU time of 1000 polls", "ms"),
        Figure::shown("polls", "1/s"),
        Figure::shown("CPU, of one core", "%"),
        Figure::shown("ticker p99", "ms"),
        Figure::shown("ticker max", "ms"),
    ],
    process: Process::This,
    gmp: measure::<Gmp>,
    tokio: Some(measure::<Tokio>),
};

fn measure<R: Timers>(options: &Options) -> io::Result<Vec<f64>> {
    let rt = R::new(options.procs)?;
    let (stop, polls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (ticks, cpu) = ticker::beside(&rt, &stop, || {
        for _ in 0..TASKS {
            drop(rt.spawn_remote(sleep_shortly::<R>(stop.clone(), polls.clone())));
        }
        let before = process::cost(None);
        polls.store(0, Relaxed);
        thread::sleep(options.duration);
        let cpu = process::cost(None).zip(before).map(|(after, before)| after.cpu - before.cpu);
        cpu.map(|cpu| (cpu.as_secs_f64(), polls.load(Relaxed) as f64))
    });
    rt.shutdown(Duration::from_secs(10));
    let (cpu, polls) = cpu.ok_or_else(|| io::Error::other("what this process costs is not to be seen here"))?;
    let secs = options.duration.as_secs_f64();
    let [p99, max] = [99.0, 100.0].map(|percentile| millis(&ticks, percentile));
    Ok(vec![cpu * 1000.0 / (polls / 1000.0), polls / secs, 100.0 * cpu / secs, p99, max])
}

async fn sleep_shortly<R: Timers>(stop: Arc<AtomicBool>, polls: Arc<AtomicU64>) {
    while !stop.load(Relaxed) {
        thread::sleep(SLEEP);
        polls.fetch_add(1, Relaxed);
        R::yield_now().await;
    }
}
