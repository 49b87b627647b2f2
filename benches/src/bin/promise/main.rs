//! The promise, measured: a task may hold its thread, and other tasks are not delayed.
//!
//! Each repetition has a new runtime, so that its threads and CPU time belong to the row alone.
//! [`lateness`] has rows that measure how late a task is during a period, each a distribution.
//! [`numbers`] has rows with a few numbers, such as the longest gap of a ticker beside polls of
//! seconds.

mod args;
mod lateness;
mod numbers;
mod processes;
mod ticker;
mod way;

use anyhow::Result;
use clap::Parser;
use gmp_benches::report::JsonLines;

use crate::args::Options;

fn main() -> Result<()> {
    let options = Options::parse();
    match (options.spin, &options.child) {
        (Some(limit), _) => processes::spin(limit),
        (None, Some(side)) => processes::measure(side, &options)?,
        (None, None) => tables(&options)?,
    }
    Ok(())
}

fn tables(options: &Options) -> Result<()> {
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
