//! What the command line asks for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use rustix::process::Pid;

use crate::arguments::value_of;
use crate::duration::duration;
use crate::tasks::parse as process;
use crate::usage::usage;

const USAGE: &str = "trace <FILE>..., or trace [--for <TIME>] [--output <FILE>] <PID>";

/// If no time is given.
const USUAL: Duration = Duration::from_secs(2);
/// That of gmp-exec's `dump::asker`.
const LONGEST: Duration = Duration::from_secs(60);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    Files(Vec<PathBuf>),
    Process(OfProcess),
}

/// What happens in a running process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OfProcess {
    pub(super) process: Pid,
    pub(super) time: Duration,
    /// Where the recording is kept; `None`: it is told and forgotten.
    pub(super) output: Option<PathBuf>,
}

impl Request {
    /// A number is a process, unless there is a file of that name.
    ///
    /// # Errors
    ///
    /// The command line is wrong.
    pub(super) fn parse(arguments: &[OsString]) -> Result<Request> {
        let (mut names, mut time, mut output) = (Vec::new(), None, None);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let is_split = |option| argument == option;
            if let Some(value) = value_of("--for", argument, || rest.as_slice().first()) {
                time = Some(limited(&value)?);
                rest.by_ref().take(usize::from(is_split("--for"))).for_each(drop);
            } else if let Some(value) = value_of("--output", argument, || rest.as_slice().first()) {
                output = Some(PathBuf::from(value));
                rest.by_ref().take(usize::from(is_split("--output"))).for_each(drop);
            } else if argument.to_string_lossy().starts_with('-') {
                return Err(wrong(&format!("unknown option {argument:?}")));
            } else {
                names.push(argument.clone());
            }
        }
        match &names[..] {
            [] => Err(wrong("no file, and no process")),
            [name] if is_number(name) && !Path::new(name).exists() => {
                let process = process(&names, USAGE)?;
                Ok(Request::Process(OfProcess { process, time: time.unwrap_or(USUAL), output }))
            }
            _ if time.is_some() || output.is_some() => {
                Err(wrong(&format!("--for and --output are for a process, and {:?} is none", names[0])))
            }
            _ => Ok(Request::Files(names.into_iter().map(PathBuf::from).collect())),
        }
    }
}

fn is_number(name: &OsString) -> bool {
    name.to_str().is_some_and(|name| name.parse::<u32>().is_ok())
}

fn limited(text: &OsString) -> Result<Duration> {
    let time = text.to_str().and_then(duration).filter(|time| *time <= LONGEST);
    time.ok_or_else(|| wrong(&format!("{text:?} is no time; allowed are 1s to 60s")))
}

fn wrong(what: &str) -> anyhow::Error {
    usage(format!("{what}; usage: cargo gmp {USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request> {
        Request::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn process(seconds: u64, output: Option<&str>) -> Request {
        let (process, time) = (Pid::from_raw(17).unwrap(), Duration::from_secs(seconds));
        Request::Process(OfProcess { process, time, output: output.map(PathBuf::from) })
    }

    #[test]
    fn a_number_is_a_process() {
        assert_eq!(parse("17").unwrap(), process(2, None));
        assert_eq!(parse("--for 5 17").unwrap(), process(5, None));
        assert_eq!(parse("17 --for=1m --output a.pftrace").unwrap(), process(60, Some("a.pftrace")));
        assert_eq!(parse("a.pftrace").unwrap(), Request::Files(vec!["a.pftrace".into()]));
        assert_eq!(parse("17 18").unwrap(), Request::Files(vec!["17".into(), "18".into()]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, expected) in [
            ("", "no file, and no process; "),
            ("--fro 1 17", "unknown option \"--fro\"; "),
            ("--for 0 17", "\"0\" is no time; allowed are 1s to 60s; "),
            ("--for 61s 17", "\"61s\" is no time"),
            ("--for", "unknown option \"--for\""),
            ("--output x a.pftrace", "--for and --output are for a process, and \"a.pftrace\" is none; "),
            ("0", "\"0\" is not a process id; "),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
            assert!(
                error.ends_with("usage: cargo gmp trace <FILE>..., or trace [--for <TIME>] [--output <FILE>] <PID>")
            );
        }
    }
}
