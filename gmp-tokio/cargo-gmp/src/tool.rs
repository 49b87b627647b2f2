//! `cargo gmp <tool>`: runs a subcommand that is another program, such as nextest or clippy.
//!
//! Cargo passes on to a tool the arguments that follow the tool's name, and no option for cargo
//! works with every tool. So this process starts the tool directly, with this command in cargo's
//! place ([`crate::nested`]), and waits for the tool. If the tool never started a build through
//! that cargo, its builds were not on gmp.

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
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::handed_over;
use crate::nested::{Folder, SEEN};
use crate::sources::cache_folder;

/// The path of the tool `name`, if there is one.
pub(crate) fn find(name: &OsStr) -> Option<PathBuf> {
    let file = format!("cargo-{}", name.to_str()?);
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&path).chain(home.map(|home| home.join("bin")));
    folders.find_map(|folder| Some(folder.join(&file)).filter(|program| program.is_file()))
}

/// Runs the tool without the options before its name, which are only for cargo.
pub(crate) fn run(cargo: &Cargo, program: PathBuf, line: &Line) -> Result<ExitCode> {
    let builds = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(&program);
    command.arg(&line.subcommand).args(&line.rest).env(SEEN, builds.path());
    Folder::make_in(&cache_folder()?)?.give(&mut command, cargo.program())?;
    handed_over::give(&mut command, cargo, &Arguments::parse(line.rest.clone()))?;
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

/// Ctrl-C reaches the child process too. This process ignores it, so that the child ends first.
pub(crate) fn ignore_interrupts() -> Result<()> {
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// The exit code that a shell would report.
pub(crate) fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
