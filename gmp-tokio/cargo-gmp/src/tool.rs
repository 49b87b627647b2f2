//! `cargo gmp <tool>`: a subcommand that is another program, such as nextest or clippy.
//!
//! Cargo hands on to a tool what follows its name, so there is no place for options to cargo that
//! every tool would take. It is started directly, with ours for cargo ([`crate::nested`]), and
//! waited for: if it never asked that cargo to build, what it did was not on gmp.

use std::env;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGQUIT};

use crate::alias::Line;
use crate::cargo::Cargo;
use crate::nested::{Folder, SEEN};
use crate::sources::cache_folder;

/// Where the tool `name` is, if there is one.
pub(crate) fn find(name: &OsStr) -> Option<PathBuf> {
    let file = format!("cargo-{}", name.to_str()?);
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain(home.map(|home| home.join("bin")));
    folders.find_map(|folder| Some(folder.join(&file)).filter(|program| program.is_file()))
}

/// Cargo's options before the tool's name are cargo's alone, so there are none.
pub(crate) fn run(cargo: &Cargo, program: PathBuf, line: &Line) -> Result<ExitCode> {
    let builds = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(&program);
    command.arg(&line.subcommand).args(&line.rest).env(SEEN, builds.path());
    Folder::make_in(&cache_folder()?)?.give(&mut command, cargo.program())?;
    let status = wait_for(&mut command).with_context(|| format!("can't start {}", program.display()))?;
    if builds.as_file().metadata()?.len() == 0 {
        let name = line.subcommand.display();
        eprintln!(
            "warning: `cargo {name}` built nothing through the cargo that it was given; what else it built is on tokio"
        );
    }
    Ok(ExitCode::from(exit_code(status)))
}

pub(crate) fn wait_for(command: &mut Command) -> Result<ExitStatus> {
    ignore_interrupts()?;
    Ok(command.status()?)
}

/// Ctrl-C reaches what this process waits for too, and that is to end first.
pub(crate) fn ignore_interrupts() -> Result<()> {
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// As a shell would say it.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
