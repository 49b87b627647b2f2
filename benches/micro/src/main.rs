//! Counts the instructions of gmp's hot paths, and fails when there are more than the committed
//! figures allow.
//!
//! Time on a shared machine varies by more than the cost of a careless change. The number of
//! instructions does not. So each path runs under valgrind's callgrind once with N operations and
//! once with 2 N; the difference is the cost of N operations, without the start and the end of the
//! process and of the runtime. The counts guard past optimisations; whether a program became faster
//! is for the benchmarks to show.
//!
//! Rejected: gungraun (once iai-callgrind), which does the same and more, but needs a second program
//! in exactly the version of the library, installed in each CI run, and has no committed figures
//! that name their machine; hardware counters, which virtual machines don't have.

mod callgrind;
mod console;
mod figures;
mod options;
mod report;
mod subject;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Parser;
use figures::{Figures, Machine};
use options::Options;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the figures hold, if they belong to this machine. With `--strict`, figures of another
/// machine are an error.
fn run(options: &Options) -> Result<bool> {
    if let Some((subject, operations)) = options.run()? {
        if options.console {
            console::start()?;
        }
        subject.run(operations);
        return Ok(true);
    }
    let here = Machine::here();
    let mut figures = Figures::read()?;
    if options.update && console::IS_TRACED {
        bail!("--update replaces the figures of a build without `--cfg tokio_unstable`");
    }
    if options.update {
        figures.move_to(&here, options.is_everything())?;
    }
    let counts = callgrind::count_all(options)?;
    if options.update {
        figures.set(&counts);
        figures.write()?;
    }
    report::print(&counts, &figures);
    match report::why_unchecked(&figures, &here) {
        Some(why) if options.strict => bail!("{why}; --strict makes that a failure"),
        Some(why) => {
            println!("{why}");
            Ok(true)
        }
        None => Ok(report::judge(&counts, &figures, options.is_everything())),
    }
}
