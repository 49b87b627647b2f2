//! The promise, measured: a task may hold its thread, and nobody else notices.
//!
//! A single run is at the mercy of what the machine does in its two seconds, so each row is run
//! several times on each side, in turns, and the verdict is on the median of the repetitions. Each
//! repetition is a runtime of its own, so that its threads and CPU time are those of the row alone.
//!
//! There are two kinds of rows. [`lateness`]: how late somebody is in a stretch of time, a
//! distribution each. Beside it a plain thread ticks too: where that one is late (the column
//! "thread"), the machine is, and no scheduler of tasks could have done better. [`numbers`]: what a
//! few numbers say, such as the longest gap of a ticker beside polls of seconds.

mod args;
mod clock;
mod foreign;
mod goal;
mod histogram;
mod lateness;
mod numbers;
mod orphan;
mod rows;
mod side;
mod ticker;
mod way;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use gmp_benches::cli;
use gmp_benches::report::JsonLines;

use crate::args::Options;

fn main() -> ExitCode {
    cli::exit_code("promise", run(&Options::parse()))
}

fn run(options: &Options) -> io::Result<()> {
    match (options.spin, &options.child) {
        (Some(limit), _) => {
            foreign::spin(limit);
            Ok(())
        }
        (None, Some(side)) => numbers::child::measure(side, options),
        (None, None) => tables(options),
    }
}

fn tables(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    let lateness: Vec<_> = lateness::ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if !lateness.is_empty() {
        lateness::table(&lateness, options, &mut json)?;
    }
    let numbers: Vec<_> = numbers::ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if !numbers.is_empty() {
        numbers::table(&numbers, options, &mut json)?;
    }
    Ok(())
}
