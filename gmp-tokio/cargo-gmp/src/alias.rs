//! Expands the user's cargo aliases.
//!
//! Cargo would expand an alias too, but this command has to know the alias's options: an alias may
//! name another manifest or target directory, or end in `--`, after which every argument is the
//! program's.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};

use crate::configuration;
use crate::run::{REFUSED, TAKEN};

/// A cargo command line, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The options before the subcommand.
    pub(crate) before: Vec<OsString>,
    pub(crate) subcommand: OsString,
    pub(crate) rest: Vec<OsString>,
}

/// Options before a subcommand whose value may be the next argument.
const WITH_VALUE: [&str; 4] = ["--config", "--color", "-C", "-Z"];

impl Line {
    /// `None` if there is no subcommand.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.into_iter();
        let mut before = Vec::new();
        while let Some(argument) = arguments.next() {
            if !argument.as_encoded_bytes().starts_with(b"-") {
                return Some(Line { before, subcommand: argument, rest: arguments.collect() });
            }
            let takes_next = WITH_VALUE.iter().any(|option| argument == *option);
            before.push(argument);
            before.extend(takes_next.then(|| arguments.next()).flatten());
        }
        None
    }

    /// `-C` makes cargo change to another folder before it looks for a manifest or a configuration.
    fn refuse_other_folder(self) -> Result<Self> {
        if self.before.iter().any(|option| option.as_encoded_bytes().starts_with(b"-C")) {
            bail!("`-C` is not taken: change to that folder first");
        }
        Ok(self)
    }

    /// Replaces the subcommand by the alias of that name, as configured for the folder `from`.
    pub(crate) fn expand(mut self, from: &Path) -> Result<Self> {
        let name = self.subcommand.clone();
        // The limit ends aliases that name each other. No user has a chain of 32.
        for _ in 0..32 {
            let Some(words) = self.alias(from)? else { return self.refuse_other_folder() };
            let Some(line) = Line::parse(words.into_iter().map(OsString::from).chain(self.rest)) else {
                bail!("the alias `{}` has no subcommand", self.subcommand.display());
            };
            self = Line { before: [self.before, line.before].concat(), ..line };
        }
        bail!("the alias `{}` stands for itself", name.display())
    }

    fn alias(&self, from: &Path) -> Result<Option<Vec<String>>> {
        let Some(name) = self.subcommand.to_str() else { return Ok(None) };
        // An alias with the name of one of these subcommands has no effect, in cargo either.
        if TAKEN.contains(&name) || REFUSED.iter().any(|(refused, _)| *refused == name) {
            return Ok(None);
        }
        configuration::alias(from, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Line> {
        Line::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_before_the_subcommand_are_told_from_it() {
        let line = parse("-q --config run --color=never -Z x test --lib -- run").unwrap();
        assert_eq!(line.before, ["-q", "--config", "run", "--color=never", "-Z", "x"]);
        assert_eq!(line.subcommand, "test");
        assert_eq!(line.rest, ["--lib", "--", "run"]);
        assert_eq!(parse("--version"), None);
        assert_eq!(parse("--config"), None);
    }
}
