//! The arguments of `promise`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};

pub(crate) const USAGE: &str = "\
Measures how late a 1 ms ticker is while other tasks hold their thread for 50 ms at a time, on gmp and on tokio.

usage: promise [--secs N] [--reps N] [--procs N] [--json FILE]

  --secs N    how long each repetition of a row takes (1 to 3600, 2 unless told)
  --reps N    repetitions of each row on each side, in turns (1 to 100, 5 unless told)
  --procs N   gmp's Ps and tokio's workers (1 to 1024, 2 unless told; the limits were set for 2)
  --json FILE also write one JSON object a line for each row";

#[derive(Debug)]
pub(crate) struct Options {
    /// Of one repetition.
    pub(crate) duration: Duration,
    pub(crate) reps: usize,
    pub(crate) procs: usize,
    /// The file to write JSON lines to.
    pub(crate) json: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options { duration: Duration::from_secs(2), reps: 5, procs: 2, json: None };
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--secs" => options.duration = Duration::from_secs(arguments.number(&flag, 1..=3600)?),
                "--reps" => options.reps = arguments.number(&flag, 1..=100)?,
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                _ => return Err(BadArgument::unknown(&flag, &["--secs", "--reps", "--procs", "--json"])),
            }
        }
        Ok(options)
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
}
