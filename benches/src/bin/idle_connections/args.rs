//! The arguments of `idle_connections`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};
use gmp_benches::rt::named;

pub(crate) const USAGE: &str = "\
Keeps idle TCP connections open to a server on gmp and to one on tokio, and prints what one of them costs the server in
memory and how many 64-byte echoes a second its busy connections get, without and beside the idle ones.

usage: idle_connections [--idle N] [--busy N] [--secs N] [--reps N] [--quick] [--procs N] [--json FILE]

  --idle N      idle connections (1 to 25000: one address has no more ports; 10000 unless told)
  --busy N      busy connections (1 to 1000, 100 unless told)
  --secs N      how long the busy ones are measured each time (1 to 600, 3 unless told); wins over --quick
  --reps N      servers started on each runtime, alternating (1 to 100, 3 unless told); wins over --quick
  --quick       1 server on each runtime, busy for 1 s
  --procs N     gmp's Ps and tokio's workers (1 to 1024, 2 unless told)
  --json FILE   also write one JSON object a line for each row
  --serve NAME  what the program starts itself with: be the server on gmp or tokio until standard input ends";

const FLAGS: [&str; 8] = ["--idle", "--busy", "--secs", "--reps", "--quick", "--procs", "--json", "--serve"];

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) idle: usize,
    pub(crate) busy: usize,
    pub(crate) duration: Duration,
    pub(crate) reps: usize,
    pub(crate) procs: usize,
    pub(crate) json: Option<String>,
    /// The runtime to be a server on.
    pub(crate) serve: Option<&'static str>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options {
            idle: 10_000,
            busy: 100,
            duration: Duration::from_secs(3),
            reps: 3,
            procs: 2,
            json: None,
            serve: None,
        };
        let (mut secs, mut reps) = (None, None);
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--idle" => options.idle = arguments.number(&flag, 1..=25_000)?,
                "--busy" => options.busy = arguments.number(&flag, 1..=1_000)?,
                "--secs" => secs = Some(arguments.number(&flag, 1..=600)?),
                "--reps" => reps = Some(arguments.number(&flag, 1..=100)?),
                "--quick" => (options.reps, options.duration) = (1, Duration::from_secs(1)),
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                "--serve" => options.serve = Some(named(&mut arguments, &flag)?),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        options.reps = reps.unwrap_or(options.reps);
        options.duration = secs.map_or(options.duration, Duration::from_secs);
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_is_not_known_is_named() {
        let error = Options::parse(Arguments::new(["--serve", "smol"])).unwrap_err().to_string();
        assert_eq!(error, "--serve can't be `smol`: it must be gmp or tokio");
    }

    #[test]
    fn what_was_told_wins_over_quick_wherever_it_stands() {
        for arguments in [["--quick", "--reps", "7"], ["--reps", "7", "--quick"]] {
            let options = Options::parse(Arguments::new(arguments)).unwrap();
            assert_eq!((options.reps, options.duration.as_secs()), (7, 1), "{arguments:?}");
        }
    }

    #[test]
    fn more_connections_than_ports_are_refused() {
        let error = Options::parse(Arguments::new(["--idle", "30000"])).unwrap_err().to_string();
        assert_eq!(error, "--idle can't be `30000`: it must be a whole number from 1 to 25000");
    }
}
