//! Asking cargo.

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::semver::Version;
use std::env;
use std::ffi::{OsStr, OsString};
use std::process::{Command, Output};

/// The oldest cargo that can do what is asked of it here: an alternative lock file.
const OLDEST: Version = Version::new(1, 95, 0);

/// The first cargo in which an alternative lock file is a stable option.
const STABLE_LOCKFILE_PATH: Version = Version::new(1, 97, 0);

/// The cargo that this process was started by, or the one on the path.
#[derive(Clone, Debug)]
pub struct Cargo {
    program: OsString,
    offline: bool,
}

impl Cargo {
    /// As the environment says; with `offline`, no command made here uses the network.
    pub fn from_env(offline: bool) -> Self {
        Cargo { program: env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), offline }
    }

    /// A command of this cargo's, still without arguments.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Runs `cargo <arguments>` without the network, and if that fails, with it, unless that is out of bounds.
    ///
    /// What was downloaded before is found without the network, faster and on a train.
    ///
    /// # Errors
    ///
    /// With cargo's own message, if the last attempt failed.
    pub fn run_offline_first<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output> {
        let run = |more: &[&str]| self.output(self.command().args(arguments).args(more));
        let without = run(&["--offline"])?;
        if without.status.success() || self.offline {
            return succeeded(without);
        }
        succeeded(run(&[])?)
    }

    /// Whether the network is out of bounds.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Runs a command made by [`command`](Self::command), whatever it exits with.
    ///
    /// # Errors
    ///
    /// If there is no cargo.
    pub fn output(&self, command: &mut Command) -> Result<Output> {
        command.output().with_context(|| format!("can't start `{}`", self.program.to_string_lossy()))
    }

    /// This cargo's version.
    ///
    /// # Errors
    ///
    /// If there is no cargo, or if it says something else than its version.
    pub fn version(&self) -> Result<Version> {
        let output = succeeded(self.output(self.command().arg("--version"))?)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().nth(1).and_then(|version| Version::parse(version).ok());
        version.with_context(|| format!("`cargo --version` says \"{}\", which has no version in it", text.trim()))
    }

    /// How this cargo is told of another lock file.
    ///
    /// # Errors
    ///
    /// If it is too old for that.
    pub(crate) fn lockfile_option(&self) -> Result<LockfileOption> {
        LockfileOption::of(self.version()?)
    }
}

/// How a cargo is told of another lock file (see [`crate::lockfile`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockfileOption {
    /// A configuration key like any other.
    Stable,
    /// The same key, to be unlocked.
    Unstable,
}

impl LockfileOption {
    fn of(mut version: Version) -> Result<Self> {
        // A nightly has what its release will have.
        version.pre = Default::default();
        ensure!(version >= OLDEST, "cargo {version} is too old for `cargo gmp`, which needs {OLDEST} or newer");
        Ok(if version >= STABLE_LOCKFILE_PATH { LockfileOption::Stable } else { LockfileOption::Unstable })
    }
}

pub(crate) fn succeeded(output: Output) -> Result<Output> {
    if output.status.success() {
        return Ok(output);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.trim_end();
    bail!("cargo says:\n{}", message.strip_prefix("error: ").unwrap_or(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cargo_is_told_as_it_understands() {
        let of = |version: &str| LockfileOption::of(version.parse().unwrap());
        assert_eq!(of("1.95.0").unwrap(), LockfileOption::Unstable);
        assert_eq!(of("1.96.1").unwrap(), LockfileOption::Unstable);
        assert_eq!(of("1.97.0-nightly").unwrap(), LockfileOption::Stable);
        assert_eq!(of("2.0.0").unwrap(), LockfileOption::Stable);
        let error = of("1.85.1").unwrap_err().to_string();
        assert_eq!(error, "cargo 1.85.1 is too old for `cargo gmp`, which needs 1.95.0 or newer");
    }

    #[test]
    fn this_cargo_says_its_version() {
        assert!(Cargo::from_env(true).version().unwrap() >= OLDEST);
    }
}
