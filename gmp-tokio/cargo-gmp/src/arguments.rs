//! Reads those of the user's cargo arguments that matter to this command. All arguments are passed
//! on as they are.
//!
//! Only the arguments before `--` are cargo's. Of these, this module reads the options that say
//! where the project is and how cargo may resolve it. Cargo accepts or refuses all others.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Cargo's arguments without the subcommand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    /// The arguments before the subcommand, as given.
    pub(crate) before: Vec<OsString>,
    /// The arguments after the subcommand, as given.
    pub(crate) all: Vec<OsString>,
    /// `--manifest-path`.
    pub(crate) manifest_path: Option<PathBuf>,
    /// `--target`.
    pub(crate) target: Option<OsString>,
    /// The values of `--config`, each preceded by the option's name.
    pub(crate) configuration: Vec<OsString>,
    /// `--target-dir`.
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) locked: bool,
    pub(crate) offline: bool,
}

impl Arguments {
    pub(crate) fn parse(all: Vec<OsString>) -> Self {
        Arguments::of(Vec::new(), all)
    }

    pub(crate) fn of(before: Vec<OsString>, all: Vec<OsString>) -> Self {
        let mut parsed = Arguments::default();
        let mut cargos = before.iter().chain(&all).take_while(|argument| *argument != "--");
        while let Some(argument) = cargos.next() {
            match argument.to_str() {
                Some("--locked") => parsed.locked = true,
                Some("--offline") => parsed.offline = true,
                Some("--frozen") => (parsed.locked, parsed.offline) = (true, true),
                _ => {}
            }
            let value_of = |option| value_of(option, argument, || cargos.clone().next());
            if let Some(path) = value_of("--manifest-path") {
                parsed.manifest_path = Some(path.into());
            } else if let Some(target) = value_of("--target") {
                parsed.target = Some(target);
            } else if let Some(value) = value_of("--config") {
                parsed.configuration.extend(["--config".into(), value]);
            } else if let Some(folder) = value_of("--target-dir") {
                parsed.target_dir = Some(folder.into());
            }
        }
        Arguments { before, all, ..parsed }
    }

    /// Whether cargo builds tests and starts none (`--no-run`).
    pub(crate) fn builds_only(&self) -> bool {
        self.all.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--no-run")
    }
}

/// The value of `option` if `argument` is `option=value`, or `option` with the value `next` to it.
pub(crate) fn value_of<'a>(
    option: &str,
    argument: &OsStr,
    next: impl FnOnce() -> Option<&'a OsString>,
) -> Option<OsString> {
    if argument == option {
        return next().cloned();
    }
    let value = argument.to_str()?.strip_prefix(option)?.strip_prefix('=')?;
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Arguments {
        Arguments::parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn options_are_read_in_both_spellings() {
        for line in ["--manifest-path a/Cargo.toml --target x", "--manifest-path=a/Cargo.toml --target=x"] {
            let arguments = parse(line);
            assert_eq!(arguments.manifest_path, Some("a/Cargo.toml".into()));
            assert_eq!(arguments.target, Some("x".into()));
            assert_eq!(arguments.target_dir, None);
        }
        assert_eq!(parse("--target-dir=a").target_dir, Some("a".into()));
        assert_eq!(parse("--config a=1 -p x --config b=2").configuration, ["--config", "a=1", "--config", "b=2"]);
    }

    #[test]
    fn what_follows_the_dashes_is_the_programs() {
        let arguments = parse("--release -- --manifest-path a --locked --offline");
        assert_eq!(arguments.manifest_path, None);
        assert!(!arguments.locked && !arguments.offline);
        assert_eq!(arguments.all.len(), 6);
    }

    #[test]
    fn frozen_is_locked_and_offline() {
        let arguments = parse("--frozen");
        assert!(arguments.locked && arguments.offline);
    }
}
