//! One run of a row on one side.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use gmp_benches::{process, rt::Timers};
use hdrhistogram::Histogram;

use crate::{args::Options, hogs, hogs::Hogs, ticker};

/// Latenesses are in microseconds.
pub(crate) struct Repetition {
    pub(crate) task: Histogram<u64>,
    pub(crate) thread: Histogram<u64>,
    /// The most seen at once.
    pub(crate) threads: Option<u64>,
    pub(crate) cpu: Option<Duration>,
}

pub(crate) fn measure<R: Timers>(hogs: &Hogs, options: &Options) -> io::Result<Repetition> {
    let rt = R::new(options.procs)?;
    let before = process::cost(None);
    let stop = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..hogs.count).map(|_| rt.spawn_remote(hogs::hold::<R>(hogs.way, stop.clone()))).collect();
    let ticker = rt.spawn_remote(ticker::tick::<R>(stop.clone()));

    let mut threads = None;
    let look = || threads = threads.max(process::cost(None).map(|cost| cost.threads));
    let thread = ticker::tick_on_thread(options.duration, look);
    let after = process::cost(None);

    stop.store(true, Relaxed);
    let task = rt.block_on(ticker).expect("the ticker doesn't panic");
    for hog in tasks {
        rt.block_on(hog).expect("a hog doesn't panic");
    }
    rt.shutdown(Duration::from_secs(10));
    let cpu = after.zip(before).map(|(after, before)| after.cpu - before.cpu);
    Ok(Repetition { task, thread, threads, cpu })
}
