//! The promise, measured: how late is a 1 ms ticker while other tasks hold their thread?
//!
//! Each row is a runtime of its own, started for it and stopped after it, so that its threads and CPU time are those of
//! the row alone.

mod args;
mod hogs;
mod ticker;

use std::{
    io,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use gmp_benches::{
    cli, process,
    report::met,
    rt::{Gmp, Rt, Tokio},
};
use hdrhistogram::Histogram;

use crate::{args::Options, hogs::Hogs};

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("promise: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    println!(
        "lateness of a 1 ms ticker in ms, {} Ps and workers, {} s a row; threads: the most seen at once, main included\n",
        options.procs,
        options.duration.as_secs()
    );
    println!(
        "{:<26}{:<7}{:>7}{:>9}{:>9}{:>9}{:>9}{:>8}{:>9}{:>9}  p99 met",
        "hogs", "on", "ticks", "p50", "p99", "max", "threads", "CPU s", "limit", "aim"
    );
    for hogs in hogs::ROWS {
        print::<Gmp>(&hogs, &measure::<Gmp>(&hogs, options)?);
        print::<Tokio>(&hogs, &measure::<Tokio>(&hogs, options)?);
    }
    Ok(())
}

struct Outcome {
    /// In microseconds.
    lateness: Histogram<u64>,
    threads: Option<u64>,
    cpu: Option<Duration>,
}

fn measure<R: Rt>(hogs: &Hogs, options: &Options) -> io::Result<Outcome> {
    let rt = R::new(options.procs)?;
    let cpu_before = process::cost(None).map(|cost| cost.cpu);
    let stop = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..hogs.count).map(|_| rt.spawn_remote(hogs::hold::<R>(hogs.way, stop.clone()))).collect();
    let ticker = rt.spawn_remote(ticker::tick::<R>(stop.clone()));

    let threads = most_threads_during(options.duration);
    stop.store(true, Relaxed);
    let cpu = process::cost(None).map(|cost| cost.cpu);
    let lateness = rt.block_on(ticker).expect("the ticker doesn't panic");
    for task in tasks {
        rt.block_on(task).expect("a hog doesn't panic");
    }
    rt.shutdown(Duration::from_secs(10));
    Ok(Outcome { lateness, threads, cpu: cpu.zip(cpu_before).map(|(after, before)| after - before) })
}

fn most_threads_during(duration: Duration) -> Option<u64> {
    let end = Instant::now() + duration;
    let mut most = None;
    while Instant::now() < end {
        thread::sleep(Duration::from_millis(100).min(end.saturating_duration_since(Instant::now())));
        most = most.max(process::cost(None).map(|cost| cost.threads));
    }
    most
}

fn print<R: Rt>(hogs: &Hogs, outcome: &Outcome) {
    let millis = |micros: u64| micros as f64 / 1000.0;
    let quantile = |quantile| millis(outcome.lateness.value_at_quantile(quantile));
    let p99 = quantile(0.99);
    println!(
        "{:<26}{:<7}{:>7}{:>9.2}{p99:>9.2}{:>9.2}{:>9}{:>8}{:>9.1}{:>9.1}  {}",
        hogs.to_string(),
        R::NAME,
        outcome.lateness.len(),
        quantile(0.50),
        millis(outcome.lateness.max()),
        outcome.threads.map_or("-".to_owned(), |threads| threads.to_string()),
        outcome.cpu.map_or("-".to_owned(), |cpu| format!("{:.2}", cpu.as_secs_f64())),
        hogs.limit,
        hogs.aim,
        met(p99, hogs.limit, hogs.aim),
    );
}
