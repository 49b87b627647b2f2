//! Starts every program on gmp: cargo's "runner" for `cargo gmp run`, `test` and `bench`.
//!
//! The runner does three things, and then becomes the program:
//! - Tests look for programs in the folders around their own. Cargo keeps tests in its build
//!   directory, which is shared with tokio's builds, so a program there is tokio's. The runner
//!   links the test into the matching folder of gmp's programs, and starts the test from there,
//!   with a link to cargo's records beside it.
//! - If the program starts cargo, the path and `CARGO` lead to this command ([`crate::nested`]).
//! - If the program contains tokio's own scheduler, for whatever reason, the user gets a warning.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::cargo::Cargo;
use crate::compare::measure;
use crate::nested::Folder;
use crate::seeds::program as noted;

/// `<build directory> <directory of programs> <program> <its arguments>`. This process becomes the
/// program, unless `compare` measures the program.
pub(crate) fn start(arguments: Vec<OsString>) -> Result<ExitCode> {
    let command = command(arguments)?;
    match noted::wanted() {
        Some(folder) => noted::note(&command, &folder)?,
        None => return run(command),
    }
    // nextest starts a program to see its tests.
    if command.get_args().any(|argument| argument == "--list") { run(command) } else { Ok(ExitCode::SUCCESS) }
}

/// `<program> <its arguments>`. Starts the program with nothing changed.
pub(crate) fn start_plain(arguments: Vec<OsString>) -> Result<ExitCode> {
    let mut arguments = arguments.into_iter();
    let mut command = Command::new(arguments.next().context("cargo names a program")?);
    command.args(arguments);
    run(command)
}

fn run(mut command: Command) -> Result<ExitCode> {
    match measure::wanted() {
        Some(folder) => measure::run(command, &folder),
        None => Err(command.exec()).context("can't start the program"),
    }
}

fn command(arguments: Vec<OsString>) -> Result<Command> {
    let mut arguments = arguments.into_iter();
    let mut next = || arguments.next().context("cargo names two folders and a program");
    let (between, programs, program) = (PathBuf::from(next()?), PathBuf::from(next()?), PathBuf::from(next()?));
    if has_tokios_scheduler(&program) {
        eprintln!("warning: {} has tokio's own scheduler in it: it is not only on gmp", program.display());
    }
    let mut command = Command::new(in_place(&program, &between, &programs));
    command.args(arguments);
    // A tool that started this process may have set `CARGO` to this command's own link.
    let cargo = Cargo::from_env(false);
    Folder::of_starter().context("started without a folder")?.give(&mut command, cargo.program())?;
    Ok(command)
}

/// The path at which the program finds gmp's programs beside itself. If the program can't be linked
/// to that path, it is started from its original path.
fn in_place(program: &Path, between: &Path, programs: &Path) -> PathBuf {
    let is_test = program.parent().and_then(Path::file_name).is_some_and(|folder| folder == "deps");
    let inner = program.strip_prefix(between).ok().filter(|_| is_test && !program.starts_with(programs));
    let placed = inner.map(|inner| programs.join(inner));
    let Some(placed) = placed.filter(|placed| link(program, placed).is_ok()) else { return program.to_owned() };
    // Without its records a test runs too; only trybuild then takes the default features.
    _ = link_records(program, &placed);
    placed
}

/// trybuild reads in cargo's records, which lie beside the folder of the test, with which features
/// the test was built.
fn link_records(program: &Path, placed: &Path) -> Result<()> {
    let beside = |test: &Path| Some(test.parent()?.parent()?.join(".fingerprint"));
    let (records, link) = beside(program).zip(beside(placed)).context("a program in a folder")?;
    if records.is_dir() && !link.exists() {
        std::os::unix::fs::symlink(records, link)?;
    }
    Ok(())
}

/// Renames a finished link, because the same test may be running from the old one.
fn link(program: &Path, placed: &Path) -> Result<()> {
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino()));
    if identity(placed).is_ok_and(|placed| identity(program).is_ok_and(|program| program == placed)) {
        return Ok(());
    }
    let folder = placed.parent().context("a program in a folder")?;
    fs::create_dir_all(folder)?;
    let unfinished = tempfile::tempdir_in(folder)?;
    let new = unfinished.path().join("new");
    fs::hard_link(program, &new)?;
    Ok(fs::rename(new, placed)?)
}

/// Whether the program contains tokio's own scheduler, found by the file names in its panic
/// messages. tokio's code that gmp uses lies in a folder of another name.
fn has_tokios_scheduler(program: &Path) -> bool {
    const INNER: &[u8] = b"src/runtime/scheduler/";
    let mut contents = Vec::new();
    if File::open(program).and_then(|mut file| file.read_to_end(&mut contents)).is_err() {
        return false;
    }
    // Few bytes of a program are slashes, so nearly all of the time goes into looking for the next
    // one, and the standard library is fast at that.
    let mut rest = contents.as_slice();
    while rest.skip_until(b'/').is_ok_and(|skipped| skipped > 0) {
        let after = contents.len() - rest.len();
        if rest.starts_with(INNER) && is_tokio(&contents[after.saturating_sub(65)..after - 1]) {
            return true;
        }
    }
    false
}

/// Whether a path ends in the folder of a tokio 1, unpacked or vendored.
fn is_tokio(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| !byte.is_ascii_graphic() || *byte == b'/').next().unwrap_or_default();
    name == b"tokio" || name.starts_with(b"tokio-1.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokios_code_is_told_from_what_gmp_has_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let has = |text: &str| {
            let program = folder.path().join("program");
            fs::write(&program, text).unwrap();
            has_tokios_scheduler(&program)
        };
        assert!(has("..\0/registry/tokio-1.47.1/src/runtime/scheduler/multi_thread/worker.rs\0"));
        assert!(has("/vendor/tokio/src/runtime/scheduler/inject.rs"));
        assert!(!has("/gmp-tokio/tokio-real/src/runtime/scheduler/mod.rs"));
        assert!(!has("/registry/tokio-0.2.25/src/runtime/scheduler/mod.rs"));
        assert!(!has("/src/runtime/scheduler/"));
    }

    #[test]
    fn only_tests_are_put_beside_the_programs() {
        let folder = tempfile::tempdir().unwrap();
        let (between, programs) = (folder.path().to_owned(), folder.path().join("gmp"));
        for name in ["debug/deps/it-1", "debug/app", "gmp/debug/deps/it-2", "x/release/deps/it-3"] {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), name).unwrap();
        }
        let placed = |name: &str| in_place(&between.join(name), &between, &programs);
        assert_eq!(placed("debug/app"), between.join("debug/app"));
        assert_eq!(placed("gmp/debug/deps/it-2"), between.join("gmp/debug/deps/it-2"));
        assert_eq!(placed("x/release/deps/it-3"), programs.join("x/release/deps/it-3"));
        for contents in ["debug/deps/it-1", "built anew"] {
            assert_eq!(placed("debug/deps/it-1"), programs.join("debug/deps/it-1"));
            assert_eq!(fs::read_to_string(programs.join("debug/deps/it-1")).unwrap(), contents);
            fs::remove_file(between.join("debug/deps/it-1")).unwrap();
            fs::write(between.join("debug/deps/it-1"), "built anew").unwrap();
        }
    }
}
