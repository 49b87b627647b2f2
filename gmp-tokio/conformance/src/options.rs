//! Parses the command line.

use std::path::PathBuf;
use std::time::Duration;

use crate::round::Round;

#[derive(Debug)]
pub(crate) struct Options {
    /// Compare the public items instead of running tests.
    pub(crate) api: bool,
    /// The configuration.
    pub(crate) round: Round,
    /// Compare gmp's own public items with the committed listings.
    pub(crate) listing: bool,
    /// Write the listings instead.
    pub(crate) update: bool,
    /// The groups of files to compile and run. Empty means all.
    pub(crate) groups: Vec<String>,
    /// Run only tests whose name contains this.
    pub(crate) filter: String,
    /// The number of tests that run at the same time.
    pub(crate) jobs: usize,
    /// The time limit of one test.
    pub(crate) timeout: Duration,
    pub(crate) repeat: usize,
    /// Compile for this platform, and print the binaries instead of running them.
    pub(crate) target: Option<String>,
    /// Run these binaries instead of compiling any.
    pub(crate) binaries: Vec<PathBuf>,
    /// A test that is listed with a time limit of its own may fail.
    pub(crate) slow: bool,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            api: false,
            round: Round::Stable,
            listing: false,
            update: false,
            groups: Vec::new(),
            filter: String::new(),
            jobs: 2,
            timeout: Duration::from_secs(60),
            repeat: 1,
            target: None,
            binaries: Vec::new(),
            slow: false,
        };
        while let Some(name) = arguments.next() {
            if name == "unstable" {
                options.round = Round::Unstable;
                continue;
            }
            let switch = match &*name {
                "api" => Some(&mut options.api),
                "listing" => Some(&mut options.listing),
                "--slow" => Some(&mut options.slow),
                "--update" if options.listing => Some(&mut options.update),
                _ => None,
            };
            if let Some(switch) = switch {
                *switch = true;
                continue;
            }
            let value = arguments.next().ok_or(format!("{name} wants a value"))?;
            match &*name {
                "--group" => options.groups.push(value),
                "--filter" => options.filter = value,
                "--target" => options.target = Some(value),
                "--binary" => options.binaries.push(value.into()),
                "--jobs" => options.jobs = number(&name, &value)?,
                "--timeout" => options.timeout = Duration::from_secs(number(&name, &value)? as u64),
                "--repeat" => options.repeat = number(&name, &value)?,
                _ => return Err(format!("unknown option {name}")),
            }
        }
        Ok(options)
    }

    /// Whether only a part of the tests runs.
    pub(crate) fn is_partial(&self) -> bool {
        !self.groups.is_empty() || !self.filter.is_empty() || !self.binaries.is_empty()
    }

    pub(crate) fn wants_group(&self, group: &str) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|wanted| wanted == group)
    }
}

fn number(name: &str, value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{name} wants a number above 0, not {value:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_line_without_options_means_everything() {
        let options = parse("").unwrap();
        assert!(!options.is_partial() && options.wants_group("rt") && !options.api && options.repeat == 1);
    }

    #[test]
    fn options_choose_a_part() {
        let options = parse("--group rt --group io --jobs 3 --timeout 5 --repeat 2").unwrap();
        assert!(options.is_partial() && options.wants_group("io") && !options.wants_group("fs"));
        assert_eq!((options.jobs, options.timeout, options.repeat), (3, Duration::from_secs(5), 2));
        assert!(parse("--filter timer").unwrap().is_partial());
        assert!(parse("api").unwrap().api);
        assert_eq!(parse("api").unwrap().round, Round::Stable);
        assert_eq!(parse("unstable api").unwrap().round, Round::Unstable);
        assert_eq!(parse("unstable --group rt").unwrap().round, Round::Unstable);
        assert!(parse("listing --update").unwrap().update && !parse("listing").unwrap().update);
    }

    #[test]
    fn another_platform_has_its_binaries_built_here_and_run_there() {
        assert_eq!(parse("--target a").unwrap().target.as_deref(), Some("a"));
        let options = parse("--binary rt-1 --binary /io-2 --slow").unwrap();
        assert_eq!(options.binaries, ["rt-1", "/io-2"].map(PathBuf::from));
        assert!(options.slow && options.is_partial() && options.target.is_none());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in ["--group", "--jobs 0", "--jobs many", "--colour red", "--update"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
