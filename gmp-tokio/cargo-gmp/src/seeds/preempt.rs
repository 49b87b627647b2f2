//! `--preempt`: threads are interrupted at each basic block of the program and its crates.
//!
//! LLVM's pass `sancov-module` puts the call of a function at the beginning of each, and gmp-exec has the
//! function. gmp itself must be without these calls, because the function would call itself. So cargo
//! starts a script in rustc's place, which adds the pass for all crates but gmp's. Build scripts and
//! macros have no such function. They are compiled without `--target`, if cargo is given a target.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::mode::PREEMPT;
use crate::arguments::Arguments;
use crate::lockfile::assignment;
use crate::sources::HOST;

const SCRIPT: &str = include_str!("preempt.sh");
const STUBS: &str = include_str!("preempt.c");

/// Adds cargo's options for programs in that folder, where nothing else is: cargo does not know that
/// these crates are compiled in another way.
pub(super) fn choose(arguments: &mut Arguments, folder: &Path) -> Result<()> {
    ensure!(
        arguments.target_dir.is_none(),
        "`{PREEMPT}` has a folder of its own for programs: leave `--target-dir` out"
    );
    let programs = folder.join("preempt");
    let script = programs.join("preempt.sh");
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

/// Writes the script, and beside it the object that the script adds to each program.
fn write(script: &Path) -> Result<()> {
    if fs::read_to_string(script).is_ok_and(|text| text == SCRIPT) {
        return Ok(());
    }
    let problem = || format!("can't write {}", script.display());
    fs::create_dir_all(script.parent().context("the file is in a folder")?).with_context(problem)?;
    compile(&script.with_extension("c"))?;
    // The last file: it says that the others are there.
    let mut file =
        File::options().write(true).create(true).truncate(true).mode(0o755).open(script).with_context(problem)?;
    file.write_all(SCRIPT.as_bytes()).with_context(problem)
}

/// rustc links with `cc`, too.
fn compile(stubs: &Path) -> Result<()> {
    fs::write(stubs, STUBS).with_context(|| format!("can't write {}", stubs.display()))?;
    let mut cc = Command::new("cc");
    cc.arg("-c").arg(stubs).arg("-o").arg(stubs.with_extension("o"));
    ensure!(cc.status().context("can't start `cc`")?.success(), "`cc` can't compile {}", stubs.display());
    Ok(())
}
