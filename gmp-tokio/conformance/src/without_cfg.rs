//! The names of the tests that the round without the cfg has run. The round with the cfg leaves
//! them out: it is for the tests that the cfg adds.
//!
//! The names are in a file beside the generated package of the former round. If there is no such
//! file, the latter round runs every test of its files.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fs, io};

use crate::options::Options;
use crate::round::Round;

/// Writes the names, after a run without the cfg that was not restricted.
pub(crate) fn note<'a>(options: &Options, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    if options.round != Round::Stable || options.is_partial() {
        return Ok(());
    }
    let text: String = names.map(|name| format!("{name}\n")).collect();
    fs::write(path(), text).map_err(|error| format!("{}: {error}", path().display()))
}

/// The tests to leave out: none if the run is restricted, because the user names what is to run.
pub(crate) fn read(options: &Options) -> Result<BTreeSet<String>, String> {
    if options.round != Round::Unstable || options.is_partial() {
        return Ok(BTreeSet::new());
    }
    match fs::read_to_string(path()) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(format!("{}: {error}", path().display())),
    }
}

fn path() -> PathBuf {
    Round::Stable.folder().join("tests.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Options {
        Options::parse(line.split_whitespace().map(str::to_owned)).unwrap()
    }

    #[test]
    fn a_restricted_run_and_the_other_round_leave_nothing_out() {
        for line in ["", "unstable --group rt", "unstable --filter timer"] {
            assert_eq!(read(&options(line)), Ok(BTreeSet::new()), "{line}");
        }
    }
}
