//! Asking cargo.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use semver::Version;

use crate::nested::{self, Name, REAL, TARGET};

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
        Cargo { program: program(), offline }
    }

    pub(crate) fn program(&self) -> &OsStr {
        &self.program
    }

    /// A command of this cargo's, still without arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(folder) = users_target_directory() {
            command.env("CARGO_TARGET_DIR", folder);
        }
        command
    }

    /// Runs `cargo <arguments>` without the network, and if that fails, with it, unless that is out
    /// of bounds.
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

    /// Runs `cargo <arguments>` with the network, unless that is out of bounds, and if that fails,
    /// without it.
    ///
    /// For what is asked anew each time: what was downloaded before may not be the newest. A note
    /// says so.
    ///
    /// # Errors
    ///
    /// With cargo's own message about the first attempt, if both failed.
    pub(crate) fn run_network_first<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output> {
        let without = || self.output(self.command().args(arguments).arg("--offline"));
        if self.offline {
            return succeeded(without()?);
        }
        let error = match succeeded(self.output(self.command().args(arguments))?) {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        let Ok(output) = succeeded(without()?) else { return Err(error) };
        eprintln!("note: only what was downloaded before is looked at, there may be something newer: {error}");
        Ok(output)
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

    /// Whether this cargo obeys unstable options without being talked into it.
    pub(crate) fn is_nightly(&self) -> Result<bool> {
        let version = self.version()?;
        Ok(["nightly", "dev"].iter().any(|channel| version.pre.starts_with(channel)))
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
        // A nightly has what its release will have, but for the one in which the option became
        // stable: that may be from before, and would write the user's lock file.
        let is_early = !version.pre.is_empty() && version.minor == STABLE_LOCKFILE_PATH.minor && version.major == 1;
        version.pre = Default::default();
        ensure!(
            version >= OLDEST,
            "cargo {version} is too old for `cargo gmp`, which needs {OLDEST} or newer (`rustup update`)"
        );
        Ok(if version >= STABLE_LOCKFILE_PATH && !is_early { LockfileOption::Stable } else { LockfileOption::Unstable })
    }
}

/// The real one: where cargo is looked for, there may be this command (see [`crate::nested`]).
fn program() -> OsString {
    let named = env::var_os("CARGO").filter(|cargo| !is_this_command(cargo));
    let real = env::var_os(REAL);
    let found = if nested::own_name() == Some(Name::Cargo) { real.or(named) } else { named.or(real) };
    found.or_else(on_path).unwrap_or_else(|| "cargo".into())
}

/// By its whole path: this command may be put before it on the path.
fn on_path() -> Option<OsString> {
    let folders = env::var_os("PATH")?;
    let mut programs = env::split_paths(&folders).map(|folder| folder.join("cargo").into_os_string());
    programs.find(|program| Path::new(program).is_file() && !is_this_command(program))
}

fn is_this_command(program: &OsStr) -> bool {
    let own = env::current_exe().and_then(|own| own.canonicalize());
    own.is_ok_and(|own| Path::new(program).canonicalize().is_ok_and(|program| program == own))
}

/// For a cargo that another one's program starts: the variable is no longer what the user set.
fn users_target_directory() -> Option<OsString> {
    let users = env::var_os(TARGET)?;
    let current = env::var_os("CARGO_TARGET_DIR")?;
    (Path::new(&current) == Path::new(&users).join("gmp")).then_some(users)
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
        assert_eq!(of("1.97.0-nightly").unwrap(), LockfileOption::Unstable);
        assert_eq!(of("1.97.0").unwrap(), LockfileOption::Stable);
        assert_eq!(of("1.98.0-nightly").unwrap(), LockfileOption::Stable);
        assert_eq!(of("2.0.0").unwrap(), LockfileOption::Stable);
        let error = of("1.85.1").unwrap_err().to_string();
        assert_eq!(error, "cargo 1.85.1 is too old for `cargo gmp`, which needs 1.95.0 or newer (`rustup update`)");
    }

    /// A shell in cargo's place, to which `--offline` is `$1`.
    fn network_first(offline: bool, script: &str) -> Result<String> {
        let cargo = Cargo { program: "sh".into(), offline };
        let output = cargo.run_network_first(&["-c", script, "cargo"])?;
        Ok(String::from_utf8(output.stdout)?)
    }

    #[test]
    fn the_network_is_asked_first_unless_it_is_out_of_bounds() {
        assert_eq!(network_first(false, "echo \"got $1\"").unwrap(), "got \n");
        assert_eq!(network_first(true, "echo \"got $1\"").unwrap(), "got --offline\n");
    }

    #[test]
    fn without_a_network_what_is_at_hand_does() {
        assert_eq!(network_first(false, "test \"$1\" && echo \"got $1\"").unwrap(), "got --offline\n");
        let error = network_first(false, "echo \"no network$1\" >&2; exit 101").unwrap_err().to_string();
        assert_eq!(error, "cargo says:\nno network");
    }

    #[test]
    fn this_cargo_says_its_version() {
        assert!(Cargo::from_env(true).version().unwrap() >= OLDEST);
    }
}
