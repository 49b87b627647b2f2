//! The arguments of `fifo`.

use std::path::PathBuf;

use gmp_benches::cli::{Arguments, BadArgument};
use gmp_benches::rt::named;

pub(crate) const USAGE: &str = "\
Reads a FIFO that nobody writes to, for at most 100 ms, and prints how long that took and how long the program then took
to exit, on gmp and on tokio. Exit code 1 if it was too long on gmp.

usage: fifo [--reps N]

  --reps N     processes started on each runtime (1 to 100, 3 unless told)
  --on NAME    what the program starts itself with: read on gmp or tokio ...
  --path PATH  ... this FIFO";

const FLAGS: [&str; 3] = ["--reps", "--on", "--path"];

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) reps: usize,
    /// The runtime to read on, and the FIFO.
    pub(crate) read: Option<(&'static str, PathBuf)>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let (mut reps, mut on, mut path) = (3, None, None);
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--reps" => reps = arguments.number(&flag, 1..=100)?,
                "--on" => on = Some(named(&mut arguments, &flag)?),
                "--path" => path = Some(PathBuf::from(arguments.value(&flag, "the path of a FIFO")?)),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        match (on, path) {
            (Some(_), None) => Err(BadArgument::missing("with --on, --path")),
            (None, Some(_)) => Err(BadArgument::missing("with --path, --on")),
            (on, path) => Ok(Options { reps, read: on.zip(path) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &[&str]) -> String {
        Options::parse(Arguments::new(arguments.iter().copied())).unwrap_err().to_string()
    }

    #[test]
    fn a_reader_needs_a_runtime_and_a_path() {
        assert_eq!(error(&["--on", "gmp"]), "with --on, --path is required");
        assert_eq!(error(&["--path", "/a"]), "with --path, --on is required");
    }

    #[test]
    fn no_repetition_is_too_few() {
        assert_eq!(error(&["--reps", "0"]), "--reps can't be `0`: it must be a whole number from 1 to 100");
    }
}
