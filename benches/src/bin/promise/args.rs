//! The arguments of `promise`.

use std::time::Duration;

use gmp_benches::cli::{Arguments, BadArgument};

pub(crate) const USAGE: &str = "\
Measures how late a 1 ms ticker is while other tasks hold their thread for 50 ms at a time, on gmp and on tokio.

usage: promise [--secs N] [--procs N] [--json FILE]

  --secs N    how long each row is measured (1 to 3600, 2 unless told)
  --procs N   gmp's Ps and tokio's workers (1 to 1024, 2 unless told; the limits were set for 2)
  --json FILE also write one JSON object a line for each row";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) duration: Duration,
    pub(crate) procs: usize,
    /// The file to write JSON lines to.
    pub(crate) json: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options { duration: Duration::from_secs(2), procs: 2, json: None };
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--secs" => options.duration = Duration::from_secs(arguments.number(&flag, 1..=3600)?),
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                _ => return Err(BadArgument::unknown(&flag, &["--secs", "--procs", "--json"])),
            }
        }
        Ok(options)
    }
}
