//! The promise, measured: how late is a 1 ms ticker while other tasks hold their thread?
//!
//! A single run is at the mercy of what the machine does in its two seconds, so each row is run several times on each side,
//! in turns, and the verdict is on the median of the repetitions' p99. Each repetition is a runtime of its own, so that its
//! threads and CPU time are those of the row alone. Beside it a plain thread ticks too: where that one is late (the column
//! "thread"), the machine is, and no scheduler of tasks could have done better.

mod args;
mod hogs;
mod json;
mod repetition;
mod row;
mod ticker;

use std::{io, process::ExitCode};

use gmp_benches::{
    cli,
    measure::order,
    report::JsonLines,
    rt::{Gmp, Rt, Tokio},
};

use crate::{args::Options, hogs::Hogs, repetition::Repetition, row::Row};

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

type Measure = fn(&Hogs, &Options) -> io::Result<Repetition>;

const SIDES: [(&str, Measure); 2] =
    [(Gmp::NAME, repetition::measure::<Gmp>), (Tokio::NAME, repetition::measure::<Tokio>)];

fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    println!("{}", row::header(options));
    for hogs in hogs::ROWS {
        for row in measure(&hogs, options)? {
            println!("{}", row.line(&hogs));
            json.line(&json::Line::new(&hogs, &row, options))?;
        }
    }
    Ok(())
}

/// All repetitions of one row: another side comes first every time.
fn measure(hogs: &Hogs, options: &Options) -> io::Result<[Row; 2]> {
    let mut repetitions = [Vec::new(), Vec::new()];
    for turn in 0..options.reps {
        for side in order(turn, SIDES.len()) {
            let (_, measure) = SIDES[side];
            repetitions[side].push(measure(hogs, options)?);
        }
    }
    let [gmp, tokio] = repetitions;
    Ok([Row::new(SIDES[0].0, &gmp), Row::new(SIDES[1].0, &tokio)])
}
