//! The promise, measured: how late is a 1 ms ticker while other tasks hold their thread?
//!
//! Each row is a runtime of its own, started for it and stopped after it, so that its threads and CPU time are those of
//! the row alone. Beside it a plain thread ticks too: where that one is late (the column "thread"), the machine is, and
//! no scheduler of tasks could have done better.

mod args;
mod hogs;
mod json;
mod ticker;

use std::{
    io,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use gmp_benches::{
    cli, process,
    report::{JsonLines, met, or_dash},
    rt::{Gmp, Rt, Timers, Tokio},
};
use hdrhistogram::Histogram;

use crate::{args::Options, hogs::Hogs, json::millis};

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
    let mut json = JsonLines::create(options.json.as_deref())?;
    println!(
        "lateness of a 1 ms ticker in ms, {} Ps and workers, {} s a row; threads: the most at once, main included\n",
        options.procs,
        options.duration.as_secs()
    );
    println!(
        "{:<26}{:<7}{:>7}{:>9}{:>9}{:>9}{:>12}{:>9}{:>8}{:>9}{:>9}  p99 met",
        "hogs", "on", "ticks", "p50", "p99", "max", "thread p99", "threads", "CPU s", "limit", "aim"
    );
    for hogs in hogs::ROWS {
        row::<Gmp>(&hogs, options, &mut json)?;
        row::<Tokio>(&hogs, options, &mut json)?;
    }
    Ok(())
}

fn row<R: Timers>(hogs: &Hogs, options: &Options, json: &mut JsonLines) -> io::Result<()> {
    let outcome = measure::<R>(hogs, options)?;
    print::<R>(hogs, &outcome);
    json.line(&json::Line::new::<R>(hogs, &outcome, options))
}

/// Latenesses are in microseconds.
struct Outcome {
    task: Histogram<u64>,
    thread: Histogram<u64>,
    /// The most seen at once.
    threads: Option<u64>,
    cpu: Option<Duration>,
}

fn measure<R: Timers>(hogs: &Hogs, options: &Options) -> io::Result<Outcome> {
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
    Ok(Outcome { task, thread, threads, cpu })
}

fn print<R: Rt>(hogs: &Hogs, outcome: &Outcome) {
    let p99 = millis(&outcome.task, 99.0);
    println!(
        "{:<26}{:<7}{:>7}{:>9.2}{p99:>9.2}{:>9.2}{:>12.2}{:>9}{:>8}{:>9.1}{:>9.1}  {}",
        hogs.to_string(),
        R::NAME,
        outcome.task.len(),
        millis(&outcome.task, 50.0),
        millis(&outcome.task, 100.0),
        millis(&outcome.thread, 99.0),
        or_dash(outcome.threads),
        or_dash(outcome.cpu.map(|cpu| format!("{:.2}", cpu.as_secs_f64()))),
        hogs.limit,
        hogs.aim,
        met(p99, hogs.limit, hogs.aim),
    );
}
