//! `--preempt`: threads are interrupted at each basic block of the program and its crates.
//!
//! LLVM's pass `sancov-module` puts the call of a function at the beginning of each, and gmp-exec has the
//! function. gmp itself must be without these calls, because the function would call itself. So cargo
//! starts a script in rustc's place, which adds the pass for all crates but gmp's. Build scripts and
//! macros have no such function. They are compiled without `--target`, if cargo is given a target.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::mode::PREEMPT;
use crate::arguments::Arguments;
use crate::lockfile::assignment;
use crate::sources::HOST;

const SCRIPT: &str = include_str!("preempt.sh");

/// Adds cargo's options for programs in that folder, where nothing else is: cargo does not know that
/// these crates are compiled in another way.
pub(super) fn choose(arguments: &mut Arguments, folder: &Path) -> Result<()> {
    ensure!(
        arguments.target_dir.is_none(),
        "`{PREEMPT}` has a folder of its own for programs: leave `--target-dir` out"
    );
    let programs = folder.join("preempt");
    let script = programs.join("rustc.sh");
    write(&script)?;
    arguments.before.extend(["--config".into(), assignment("build.rustc-wrapper", &script)?]);
    arguments.before.extend(["--config".into(), assignment("build.build-dir", &programs)?]);
    arguments.before.extend(["--target-dir".into(), programs.clone().into_os_string()]);
    if arguments.target.is_none() {
        arguments.before.extend(["--target".into(), OsString::from(HOST)]);
    }
    arguments.target_dir = Some(programs);
    Ok(())
}

/// The user's own wrapper would come before the script.
pub(super) fn prefer_script(cargo: &mut Command) {
    cargo.env_remove("RUSTC_WRAPPER");
}

fn write(script: &Path) -> Result<()> {
    let problem = || format!("can't write {}", script.display());
    fs::create_dir_all(script.parent().context("the file is in a folder")?).with_context(problem)?;
    if fs::read_to_string(script).is_ok_and(|text| text == SCRIPT) {
        return Ok(());
    }
    fs::write(script, SCRIPT).with_context(problem)?;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).with_context(problem)
}
