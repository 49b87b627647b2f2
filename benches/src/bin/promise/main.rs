//! The promise, measured: a task may hold its thread, and other tasks are not delayed.
//!
//! Each repetition has a new runtime, so that its threads and CPU time belong to the row alone.

mod lateness;
mod load;
mod numbers;
mod processes;
mod ticker;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use gmp_benches::args::{number, seconds};
use gmp_benches::report::JsonLines;
use gmp_benches::rt::{Gmp, Rt, Tokio};

/// Measures how late a ticker, a spawn and others are while tasks hold their thread, on gmp and on
/// tokio.
#[derive(Debug, Parser)]
pub(crate) struct Options {
    /// Only the rows with a name that contains TEXT
    #[arg(long, value_name = "TEXT", value_parser = part_of_a_name)]
    pub(crate) only: Option<String>,
    /// How long each repetition of a row takes (1 to 3600); rows with a fixed number of polls or
    /// closures end when these are done
    #[arg(long = "secs", value_name = "N", default_value = "2", value_parser = seconds(1..=3600))]
    pub(crate) duration: Duration,
    /// Repetitions of each row on each side, in turns (1 to 100)
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::<usize>(1..=100))]
    pub(crate) reps: usize,
    /// gmp's Ps and tokio's workers (1 to 1024; the limits were set for 2)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=1024))]
    pub(crate) procs: usize,
    /// Also write one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// For the program's own use, to have processes that compute: compute for this many seconds
    #[arg(long, value_name = "N", hide = true, value_parser = seconds(1..=7200))]
    pub(crate) spin: Option<Duration>,
    /// For the program's own use, to measure a row in a process of its own: measure the row named
    /// by `--only` on this side
    #[arg(long, value_name = "SIDE", hide = true, value_parser = [Gmp::NAME, Tokio::NAME])]
    pub(crate) child: Option<String>,
}

impl Options {
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text))
    }
}

fn part_of_a_name(text: &str) -> Result<String, String> {
    let known = names().any(|name| name.contains(text));
    let all = || names().collect::<Vec<_>>().join("\n  ");
    if known { Ok(text.to_owned()) } else { Err(format!("it must be a part of one of these names:\n  {}", all())) }
}

fn names() -> impl Iterator<Item = &'static str> {
    lateness::ROWS.iter().map(|row| row.name).chain(numbers::ROWS.iter().map(|row| row.name))
}

fn main() -> Result<()> {
    let options = Options::parse();
    match (options.spin, &options.child) {
        (Some(limit), _) => processes::spin(limit),
        (None, Some(side)) => processes::measure(side, &options)?,
        (None, None) => {
            let mut json = JsonLines::create(options.json.as_deref())?;
            lateness::table(&options, &mut json)?;
            numbers::table(&options, &mut json)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_chosen_by_a_part_of_their_name_and_one_that_no_row_has_is_refused_with_those_they_have() {
        let parse = |text| Options::try_parse_from(["promise", "--only", text]).map_err(|error| error.to_string());
        let options = parse("quota").unwrap();
        assert_eq!(names().filter(|name| options.wants(name)).count(), 1);
        let error = parse("qouta").unwrap_err();
        assert!(names().all(|name| error.contains(name)), "{error}");
    }

    /// `--only` and the process that measures one row find a row by its name.
    #[test]
    fn no_name_is_a_part_of_another_one() {
        for name in names() {
            assert_eq!(names().filter(|other| other.contains(name)).count(), 1, "{name}");
        }
    }
}
