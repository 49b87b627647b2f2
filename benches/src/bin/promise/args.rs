//! The arguments of `promise`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};
use gmp_benches::rt;

use crate::rows;

pub(crate) const USAGE: &str = "\
Measures how late a ticker, a spawn and others are while tasks hold their thread, on gmp and on tokio.

usage: promise [--only TEXT] [--secs N] [--reps N] [--procs N] [--json FILE]

  --only TEXT  only the rows whose name contains TEXT
  --secs N     how long each repetition of a row takes (1 to 3600, 2 unless told); rows that are a number of polls or
               of closures take as long as these do
  --reps N     repetitions of each row on each side, in turns (1 to 100, 5 unless told)
  --procs N    gmp's Ps and tokio's workers (1 to 1024, 2 unless told; the limits were set for 2)
  --json FILE  also write JSON, an object a line";

/// What the program starts itself with to have processes that compute, followed by how many seconds they do.
pub(crate) const SPIN: &str = "--spin";

/// What the program starts itself with to measure the row named by `--only` in a process of its own, followed by the side.
pub(crate) const CHILD: &str = "--child";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) role: Role,
    /// A part of the names of the rows that are wanted.
    pub(crate) only: Option<String>,
    /// Of one repetition.
    pub(crate) duration: Duration,
    pub(crate) reps: usize,
    pub(crate) procs: usize,
    /// The file to write JSON lines to.
    pub(crate) json: Option<String>,
}

/// What this process is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Table,
    Spin(Duration),
    Child(&'static str),
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let duration = Duration::from_secs(2);
        let mut options = Options { role: Role::Table, only: None, duration, reps: 5, procs: 2, json: None };
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--only" => options.only = Some(part_of_a_name(&mut arguments, &flag)?),
                "--secs" => options.duration = Duration::from_secs(arguments.number(&flag, 1..=3600)?),
                "--reps" => options.reps = arguments.number(&flag, 1..=100)?,
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                SPIN => options.role = Role::Spin(Duration::from_secs(arguments.number(&flag, 1..=7200)?)),
                CHILD => options.role = Role::Child(rt::named(&mut arguments, &flag)?),
                _ => return Err(BadArgument::unknown(&flag, &["--only", "--secs", "--reps", "--procs", "--json"])),
            }
        }
        Ok(options)
    }

    /// Whether the row of this name is to be measured.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text))
    }
}

fn part_of_a_name(arguments: &mut Arguments, flag: &str) -> Result<String, BadArgument> {
    let words = || format!("a part of one of these names:\n  {}", rows::names().collect::<Vec<_>>().join("\n  "));
    let text = arguments.value(flag, &words())?;
    match rows::names().any(|name| name.contains(&text)) {
        true => Ok(text),
        false => Err(BadArgument::value(flag, &text, &words())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_repetitions_out_of_range_is_named_with_the_range() {
        let parse = |reps| Options::parse(Arguments::new(["--reps", reps])).map_err(|error| error.to_string());
        assert_eq!(parse("7").unwrap().reps, 7);
        let error = |reps| format!("--reps can't be `{reps}`: it must be a whole number from 1 to 100");
        assert_eq!(["0", "101"].map(|reps| parse(reps).unwrap_err()), ["0", "101"].map(error));
    }

    #[test]
    fn rows_are_chosen_by_a_part_of_their_name_and_one_that_no_row_has_is_refused_with_those_they_have() {
        let parse = |text| Options::parse(Arguments::new(["--only", text])).map_err(|error| error.to_string());
        let options = parse("quota").unwrap();
        assert_eq!(rows::names().filter(|name| options.wants(name)).count(), 1);
        let error = parse("qouta").unwrap_err();
        assert!(rows::names().all(|name| error.contains(name)), "{error}");
    }
}
