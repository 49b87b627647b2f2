//! The arguments of `http_mix`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};
use gmp_benches::http::Reuse;

use crate::side::{self, Side};

pub(crate) const USAGE: &str = "\
Sends HTTP requests at a constant rate to one application on gmp, on tokio and on gmp without sysmon, and prints the
latencies, counted from the due moments, of those that don't hold their thread: when none do, when 5 % block it for
100 ms, and when 5 % compute for 20 ms.

usage: http_mix [--rate N] [--secs N] [--reps N] [--quick] [--on SIDES] [--shared] [--fresh] [--procs N] [--json FILE]
       http_mix --minutes N [--rate N] [--on SIDES] [--shared] [--fresh] [--procs N] [--json FILE]

  --rate N      requests a second (1 to 100000; unless told, it is measured what a request costs, and those are sent that
                keep half of the cores busy when 5 % compute: the same rate everywhere)
  --secs N      how long each server is measured (1 to 600, 5 unless told), after a second that doesn't count
  --reps N      servers started for each side and variant, in turns (1 to 100, 5 unless told)
  --quick       1 server for each, 2 s
  --on SIDES    one or more of gmp, tokio, gmp_no_sysmon, with commas between (all unless told; gmp with --minutes)
  --minutes N   instead: 5 % block for N minutes (2 to 1440), a line every minute. Exit code 1 if a request failed, or
                latency, memory, threads or descriptors were more in the last quarter than in the first one
  --shared      requests that hold their thread go over the same connections as the others, not over their own: a
                connection's task then does both, and gmp can't know beforehand which one comes next
  --fresh       a new connection for every request: each is a task of its own, which gmp has never seen before
  --procs N     gmp's Ps and tokio's workers (1 to 1024, 2 unless told)
  --json FILE   also write one JSON object a line
  --serve SIDE  what the program starts itself with: be the server until standard input ends";

const FLAGS: [&str; 11] = [
    "--rate",
    "--secs",
    "--reps",
    "--quick",
    "--on",
    "--shared",
    "--fresh",
    "--minutes",
    "--procs",
    "--json",
    "--serve",
];

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) rate: Option<u64>,
    pub(crate) duration: Duration,
    pub(crate) reps: usize,
    pub(crate) sides: Vec<Side>,
    pub(crate) shared: bool,
    pub(crate) reuse: Reuse,
    pub(crate) minutes: Option<u32>,
    pub(crate) procs: usize,
    pub(crate) json: Option<String>,
    /// What to be a server on.
    pub(crate) serve: Option<Side>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options {
            rate: None,
            duration: Duration::from_secs(5),
            reps: 5,
            sides: Vec::new(),
            shared: false,
            reuse: Reuse::KeptAlive,
            minutes: None,
            procs: 2,
            json: None,
            serve: None,
        };
        let mut for_comparisons = None;
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--rate" => options.rate = Some(arguments.number(&flag, 1..=100_000)?),
                "--secs" => options.duration = Duration::from_secs(arguments.number(&flag, 1..=600)?),
                "--reps" => options.reps = arguments.number(&flag, 1..=100)?,
                "--quick" => (options.reps, options.duration) = (1, Duration::from_secs(2)),
                "--on" => options.sides = side::several(&mut arguments, &flag)?,
                "--shared" => options.shared = true,
                "--fresh" => options.reuse = Reuse::Never,
                "--minutes" => options.minutes = Some(arguments.number(&flag, 2..=1440)?),
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                "--serve" => options.serve = Some(side::one(&mut arguments, &flag)?),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
            if matches!(flag.as_str(), "--secs" | "--reps" | "--quick") {
                for_comparisons = Some(flag);
            }
        }
        if let (Some(flag), Some(_)) = (for_comparisons, options.minutes) {
            return Err(BadArgument::together("--minutes", &flag));
        }
        if options.sides.is_empty() {
            options.sides = if options.minutes.is_some() { vec![Side::Gmp] } else { Side::ALL.to_vec() };
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(Arguments::new(arguments.iter().copied())).map_err(|error| error.to_string())
    }

    #[test]
    fn a_long_run_is_gmps_unless_told() {
        assert_eq!(parse(&["--minutes", "60"]).unwrap().sides, [Side::Gmp]);
        assert_eq!(parse(&["--on", "tokio,gmp", "--minutes", "60"]).unwrap().sides, [Side::Tokio, Side::Gmp]);
        assert_eq!(parse(&[]).unwrap().sides, Side::ALL);
    }

    #[test]
    fn a_side_that_is_not_known_or_told_twice_is_refused() {
        for value in ["smol", "gmp,gmp", ""] {
            let error = parse(&["--on", value]).unwrap_err();
            assert!(error.starts_with(&format!("--on can't be `{value}`: it must be one or more of gmp,")), "{error}");
        }
    }

    #[test]
    fn what_a_long_run_does_not_heed_is_refused() {
        assert_eq!(parse(&["--quick", "--minutes", "2"]).unwrap_err(), "--minutes and --quick can't be given together");
    }
}
