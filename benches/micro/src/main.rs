//! Counts the instructions of gmp's hot paths, and fails when there are more than the committed
//! figures allow.
//!
//! Time on a shared machine varies by more than the cost of a careless change. The number of
//! instructions does not. So each path runs under valgrind's callgrind once with N operations and
//! once with 2 N; the difference is the cost of N operations, without the start and the end of the
//! process and of the runtime. The counts guard past optimisations; whether a program became faster
//! is for the benchmarks to show.
//!
//! Rejected: iai-callgrind, which does the same and more, but needs a second program in exactly the
//! version of the library, installed in each CI run; hardware counters, which virtual machines
//! don't have.

mod callgrind;
mod figures;
mod options;
mod report;
mod subject;

use std::process::ExitCode;

use clap::Parser;
use figures::{Figures, Machine};
use options::Options;

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match options.run() {
        Some(run) => run.map(|(subject, operations)| subject.run(operations)).map(|()| true),
        None => count(&options),
    };
    let holds = result.unwrap_or_else(|error| {
        eprintln!("{error}");
        false
    });
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether the figures hold, if they belong to this machine. With `--strict`, figures of another
/// machine are an error.
fn count(options: &Options) -> Result<bool, String> {
    let here = Machine::here();
    let mut figures = Figures::read()?;
    if options.update {
        figures.move_to(&here, options.is_everything())?;
    }
    let counts = callgrind::count_all(&options.subjects(), options.keep.as_deref())?;
    if options.update {
        figures.set(&counts);
        figures.write()?;
    }
    report::print(&counts, &figures);
    match report::why_unchecked(&figures, &here) {
        Some(why) if options.strict => Err(format!("{why}; --strict makes that a failure")),
        Some(why) => {
            println!("{why}");
            Ok(true)
        }
        None => Ok(report::judge(&counts, &figures, options.is_everything())),
    }
}
