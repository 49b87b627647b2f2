//! The arguments of `soak`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};

pub(crate) const USAGE: &str = "\
Keeps one gmp runtime under a random load of everything, and checks at the end that nothing has grown.

usage: soak [--minutes N | --secs N] [--seed N] [--procs N]

  --minutes N   how long the load lasts (1 to 1440, 10 unless told)
  --secs N      the same in seconds (10 to 86400)
  --seed N      what the dice start from (0 to 18446744073709551615, 1 unless told): each actor of a seed does the same
                things in the same order, the order between actors is the machine's
  --procs N     the runtime's Ps (1 to 1024, 2 unless told)

The load stops twice: after the first minute (or the first tenth, if that is shorter) and at the end. Both times it is
waited until everything has come to rest. Exit code 1: descriptors, threads, tasks or child processes were more at the
end than at the first stop, or memory was more than the stated margin; an operation failed, or took longer than 30 s.";

const FLAGS: [&str; 4] = ["--minutes", "--secs", "--seed", "--procs"];

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) duration: Duration,
    pub(crate) seed: u64,
    pub(crate) procs: usize,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options { duration: Duration::from_secs(600), seed: 1, procs: 2 };
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--minutes" => options.duration = Duration::from_secs(60 * arguments.number(&flag, 1..=1440)?),
                "--secs" => options.duration = Duration::from_secs(arguments.number(&flag, 10..=86_400)?),
                "--seed" => options.seed = arguments.number(&flag, 0..=u64::MAX)?,
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        Ok(options)
    }

    /// How long the load lasts until the first stop.
    pub(crate) fn until_first_stop(&self) -> Duration {
        (self.duration / 10).min(Duration::from_secs(60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(Arguments::new(arguments.iter().copied())).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_stop_is_after_a_minute_or_a_tenth() {
        let first = |arguments: &[&str]| parse(arguments).unwrap().until_first_stop().as_secs();
        assert_eq!([first(&[]), first(&["--minutes", "60"]), first(&["--secs", "100"])], [60, 60, 10]);
    }

    #[test]
    fn a_seed_that_is_no_number_is_named() {
        let error = parse(&["--seed", "abc"]).unwrap_err();
        assert!(error.starts_with("--seed can't be `abc`: it must be a whole number from 0 to"), "{error}");
    }

    #[test]
    fn too_short_a_run_is_refused() {
        let error = parse(&["--secs", "9"]).unwrap_err();
        assert_eq!(error, "--secs can't be `9`: it must be a whole number from 10 to 86400");
    }
}
