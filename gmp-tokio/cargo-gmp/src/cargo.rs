//! Runs cargo and reads its answers.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use semver::Version;

use crate::nested::{self, Name, REAL, TARGET};

/// The oldest cargo that can use an alternative lock file.
const OLDEST: Version = Version::new(1, 95, 0);

/// The first cargo in which an alternative lock file is a stable option.
const STABLE_LOCKFILE_PATH: Version = Version::new(1, 97, 0);

/// The cargo that started this process, or the first one on the path.
#[derive(Clone, Debug)]
pub struct Cargo {
    program: OsString,
    offline: bool,
}

impl Cargo {
    /// Finds cargo through the environment. With `offline`, no command that is made here uses the
    /// network.
    pub fn from_env(offline: bool) -> Self {
        Cargo { program: program(), offline }
    }

    pub(crate) fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns a command that starts this cargo, without arguments yet.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(folder) = users_target_directory() {
            command.env("CARGO_TARGET_DIR", folder);
        }
        command
    }

    /// Runs `cargo <arguments>` without the network. If that fails and the network is allowed, runs
    /// it again with the network.
    ///
    /// Packages that were downloaded before are found without the network. That is faster, and it
    /// works where there is no network.
    ///
    /// # Errors
    ///
    /// Returns cargo's own message if the last attempt failed.
    pub fn run_offline_first<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Output> {
        let run = |more: &[&str]| self.output(self.command().args(arguments).args(more));
        let without = run(&["--offline"])?;
        if without.status.success() || self.offline {
            return succeeded(without);
        }
        succeeded(run(&[])?)
    }

    /// Runs `cargo <arguments>` with the network, if the network is allowed. If that fails, runs it
    /// again without the network.
    ///
    /// For questions whose answer may have changed since the last download. A note tells the user
    /// when the answer comes from earlier downloads, which may not be the newest.
    ///
    /// # Errors
    ///
    /// Returns cargo's own message about the first attempt if both failed.
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

    /// Whether the network must not be used.
    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// Runs a command made by [`command`](Self::command), whatever exit code it ends with.
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
    /// If there is no cargo, or if its output has no version in it.
    pub fn version(&self) -> Result<Version> {
        let output = succeeded(self.output(self.command().arg("--version"))?)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().nth(1).and_then(|version| Version::parse(version).ok());
        version.with_context(|| format!("`cargo --version` says \"{}\", which has no version in it", text.trim()))
    }

    /// Whether this cargo accepts unstable options without being unlocked.
    pub(crate) fn is_nightly(&self) -> Result<bool> {
        let version = self.version()?;
        Ok(["nightly", "dev"].iter().any(|channel| version.pre.starts_with(channel)))
    }

    /// How to give this cargo another lock file.
    ///
    /// # Errors
    ///
    /// If this cargo is too old for another lock file.
    pub(crate) fn lockfile_option(&self) -> Result<LockfileOption> {
        LockfileOption::of(self.version()?)
    }
}

/// How to give cargo another lock file (see [`crate::lockfile`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockfileOption {
    /// An ordinary configuration key.
    Stable,
    /// The same key, which this cargo accepts only after it has been unlocked.
    Unstable,
}

impl LockfileOption {
    fn of(mut version: Version) -> Result<Self> {
        // A nightly has the options of its release, except the nightlies of the release in which
        // the option became stable. Such a nightly may be from before that change, and would write
        // the user's lock file.
        let is_early = !version.pre.is_empty() && version.minor == STABLE_LOCKFILE_PATH.minor && version.major == 1;
        version.pre = Default::default();
        ensure!(
            version >= OLDEST,
            "cargo {version} is too old for `cargo gmp`, which needs {OLDEST} or newer (`rustup update`)"
        );
        Ok(if version >= STABLE_LOCKFILE_PATH && !is_early { LockfileOption::Stable } else { LockfileOption::Unstable })
    }
}

/// The real cargo. This command may stand in the places where cargo is looked for (see
/// [`crate::nested`]).
fn program() -> OsString {
    let named = env::var_os("CARGO").filter(|cargo| !is_this_command(cargo));
    let real = env::var_os(REAL);
    let found = if nested::own_name() == Some(Name::Cargo) { real.or(named) } else { named.or(real) };
    found.or_else(on_path).unwrap_or_else(|| "cargo".into())
}

/// Returns cargo's whole path, because this command may come before it on the path.
fn on_path() -> Option<OsString> {
    let folders = env::var_os("PATH")?;
    let mut programs = env::split_paths(&folders).map(|folder| folder.join("cargo").into_os_string());
    programs.find(|program| Path::new(program).is_file() && !is_this_command(program))
}

fn is_this_command(program: &OsStr) -> bool {
    let own = env::current_exe().and_then(|own| own.canonicalize());
    own.is_ok_and(|own| Path::new(program).canonicalize().is_ok_and(|program| program == own))
}

/// For a cargo that was started by a program of another cargo: the variable no longer has the
/// user's value then.
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

    /// Runs a shell in cargo's place. The script sees `--offline` as `$1`.
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
