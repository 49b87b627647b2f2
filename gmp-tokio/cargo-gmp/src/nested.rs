//! This command in cargo's place, for tools, tests and programs that start cargo under `cargo gmp`.
//!
//! A program that starts cargo expects the cargo that started the program, and under `cargo gmp`
//! that cargo builds on gmp. No variable and no configuration can pass this on to every cargo: no
//! variable sets a patch, and one lock file for all cargos would be wrong as soon as another
//! workspace is built (trybuild makes one). So there is a folder with a link to this command under
//! cargo's name. The folder is first on the path, and `CARGO` names the link, because tools look in
//! these two places. Under that name this command does what `cargo gmp` does for the subcommands
//! that build, and behaves as cargo for all others.
//!
//! Cargo sets `CARGO` to its own path for the programs that it starts. So cargo starts programs
//! through [`crate::program`], which sets `CARGO` to the link again.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::handed_over;
use crate::lockfile::UNLOCK;
use crate::project::Project;
use crate::run::{self, OwnOptions, TAKEN};
use crate::seeds::nextest;

/// Names the real cargo for this command under cargo's name.
pub(crate) const REAL: &str = "GMP_CARGO";

/// The user's `CARGO_TARGET_DIR`, if cargo gets another one.
pub(crate) const TARGET: &str = "GMP_CARGO_TARGET_DIR";

/// A file that gets a line for each build.
pub(crate) const SEEN: &str = "GMP_BUILDS";

/// The names of this command in that folder: as cargo, and as cargo's runner for programs.
const AS_CARGO: &str = "cargo";
pub(crate) const AS_STARTER: &str = "on-gmp";
const AS_PLAIN_STARTER: &str = "on-tokio";

/// The folder in which this command has these other names.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder in the target directory of `project`.
    pub(crate) fn make(project: &Project) -> Result<Self> {
        project.make_target_directory()?;
        Folder::make_in(&project.gmp_directory())
    }

    pub(crate) fn make_in(place: &Path) -> Result<Self> {
        let folder = place.join("nested");
        fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
        let own = env::current_exe()?.canonicalize()?;
        for name in [AS_CARGO, AS_STARTER, AS_PLAIN_STARTER] {
            link(&own, &folder.join(name))?;
        }
        Ok(Folder(folder))
    }

    /// The folder that a program was started from.
    pub(crate) fn of_starter() -> Option<Self> {
        Some(Folder(Path::new(&env::args_os().next()?).parent()?.to_owned()))
    }

    pub(crate) fn starter(&self) -> PathBuf {
        self.0.join(AS_STARTER)
    }

    /// The path of the runner that changes nothing about a program, for `compare`.
    pub(crate) fn plain_starter(&self) -> PathBuf {
        self.0.join(AS_PLAIN_STARTER)
    }

    /// Makes `command` use this command as its cargo.
    pub(crate) fn give(&self, command: &mut Command, real: &OsStr) -> Result<()> {
        let path = env::var_os("PATH").unwrap_or_default();
        let others = env::split_paths(&path).filter(|folder| *folder != self.0);
        command.env("PATH", env::join_paths([self.0.clone()].into_iter().chain(others))?);
        command.env("CARGO", self.0.join(AS_CARGO)).env(REAL, real).env_remove(UNLOCK.0);
        Ok(())
    }
}

/// Renames a finished link, because another process may be making the same link, or may be running
/// a program through the existing one.
fn link(own: &Path, name: &Path) -> Result<()> {
    if fs::read_link(name).is_ok_and(|target| target == own) {
        return Ok(());
    }
    let unfinished = tempfile::tempdir_in(name.parent().context("a name in a folder")?)?;
    let new = unfinished.path().join("new");
    std::os::unix::fs::symlink(own, &new)?;
    fs::rename(new, name).with_context(|| format!("can't make {}", name.display()))
}

/// The name that this process was started under, if not `cargo gmp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Cargo,
    Starter,
    PlainStarter,
}

pub(crate) fn own_name() -> Option<Name> {
    let first = env::args_os().next()?;
    match Path::new(&first).file_name()?.to_str()? {
        AS_CARGO => Some(Name::Cargo),
        AS_STARTER => Some(Name::Starter),
        AS_PLAIN_STARTER => Some(Name::PlainStarter),
        _ => None,
    }
}

/// Does on gmp what `arguments` ask of cargo. Returns only if that fails.
pub(crate) fn as_cargo(arguments: Vec<OsString>) -> Result<()> {
    ensure!(env::var_os(REAL).is_some(), "{REAL} is not set: where is cargo?");
    if let Some(toolchain) = arguments.first().filter(|first| first.as_encoded_bytes().starts_with(b"+")) {
        eprintln!("warning: `cargo {}` is another cargo, it builds on tokio", toolchain.display());
        return become_rustup(&arguments);
    }
    let here = env::current_dir().context("the current folder is gone")?;
    let line = Line::parse(arguments.iter().cloned()).map(|line| line.expand(&here)).transpose()?;
    let is_taken = |line: &Line| TAKEN.iter().any(|taken| *taken == line.subcommand);
    match line {
        Some(line) if is_taken(&line) => {
            report_build(&line.subcommand)?;
            if nextest::wanted(&line) {
                return nextest::become_cargo(line);
            }
            run::become_cargo(line, OwnOptions::default())
        }
        line => {
            let mut command = for_others(line, arguments)?;
            Err(command.exec()).with_context(|| format!("can't start {}", command.get_program().display()))
        }
    }
}

/// Starts a tool directly, so that the tool uses this command as its cargo. If cargo started the
/// tool, the tool would get the path of the real cargo.
fn for_others(line: Option<Line>, arguments: Vec<OsString>) -> Result<Command> {
    let cargo = Cargo::from_env(false);
    let tool = line.and_then(|line| Some((run::tool_for(&line.subcommand)?, line)));
    match tool {
        Some((program, line)) => {
            let mut command = Command::new(program);
            command.arg(line.subcommand).args(&line.rest);
            handed_over::give(&mut command, &cargo, &Arguments::parse(line.rest))?;
            Ok(command)
        }
        None => {
            let mut command = cargo.command();
            command.args(arguments);
            Ok(command)
        }
    }
}

/// Becomes the next cargo on the path, which may be rustup's and then understands `+toolchain`.
fn become_rustup(arguments: &[OsString]) -> Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let own = env::current_exe()?.canonicalize()?;
    let is_other = |program: &PathBuf| program.canonicalize().is_ok_and(|program| program != own);
    let other = env::split_paths(&path).map(|folder| folder.join(AS_CARGO)).find(is_other);
    let other = other.context("there is no other cargo on the path")?;
    Err(Command::new(&other).args(arguments).exec()).with_context(|| format!("can't start {}", other.display()))
}

/// Tells the process that waits for the tool that the tool has started a build.
fn report_build(subcommand: &OsStr) -> Result<()> {
    const BUILDING: [&str; 11] = ["run", "r", "build", "b", "test", "t", "check", "c", "bench", "rustc", "rustdoc"];
    let Some(file) = env::var_os(SEEN).filter(|_| BUILDING.iter().any(|name| *name == subcommand)) else {
        return Ok(());
    };
    match File::options().append(true).open(file) {
        Ok(mut file) => Ok(file.write_all(b"a build\n")?),
        // The waiting process has ended and removed the file.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}
