//! One run of a row on one side.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use gmp_benches::process;
use gmp_benches::rt::Timers;
use hdrhistogram::Histogram;

use super::Lateness;
use crate::args::Options;
use crate::foreign::Foreign;
use crate::ticker;

/// The results of a repetition. Lateness is in microseconds.
pub(crate) struct Repetition {
    pub(crate) task: Histogram<u64>,
    pub(crate) thread: Histogram<u64>,
    /// The highest number seen at once.
    pub(crate) threads: Option<u64>,
    pub(crate) cpu: Option<Duration>,
}

pub(crate) fn measure<R: Timers>(row: &Lateness, options: &Options) -> io::Result<Repetition> {
    let _foreign = row.cores_full.then(|| Foreign::fill_cores(options.duration)).transpose()?;
    let rt = R::new(options.procs)?;
    let before = process::cost(None);
    let stop = Arc::new(AtomicBool::new(false));
    let load = row.load.start(&rt, &stop);
    let watch = row.victim.start(&rt, &stop);

    let mut threads = None;
    let thread = ticker::tick_on_thread(options.duration, |tick| {
        watch.tick(&rt);
        if tick % 100 == 0 {
            threads = threads.max(process::cost(None).map(|cost| cost.threads));
        }
    });
    let after = process::cost(None);

    stop.store(true, Relaxed);
    let task = watch.end(&rt);
    for hog in load {
        rt.block_on(hog).expect("a hog doesn't panic");
    }
    rt.shutdown(Duration::from_secs(10));
    let cpu = after.zip(before).map(|(after, before)| after.cpu - before.cpu);
    Ok(Repetition { task, thread, threads, cpu })
}
