//! `cargo gmp <subcommand>`: cargo, with the drop-in in tokio's place.
//!
//! When all is prepared, this process becomes cargo (`exec`). Nothing has to be put back afterwards, so nobody has to
//! wait for cargo's end: exit codes, signals and Ctrl-C need no passing on.
//!
//! Programs go to `target/gmp`, what lies between them and the sources stays where cargo has it. Both kinds of build then
//! share every crate that doesn't depend on tokio, neither makes the other compile anew, and `target/release/app` is
//! never the other runtime's program by surprise. A wholly separate target directory would compile everything twice; a
//! wholly shared one lets `cargo run` start what `cargo gmp run` has just put in its place.

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::lockfile::{self, Patched, assignment};
use crate::project::Project;
use crate::sources::Sources;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// Cargo's own subcommands that build, run or describe.
pub(crate) const TAKEN: [&str; 19] = [
    "run", "r", "build", "b", "test", "t", "check", "c", "bench", "doc", "d", "rustc", "rustdoc", "clippy", "fix",
    "fetch", "tree", "metadata", "nextest",
];

/// Those that have nothing to do with which tokio is built, or would write what `cargo gmp` leaves alone.
const REFUSED: [(&str, &str); 21] = [
    ("add", "use `cargo add`"),
    ("remove", "use `cargo remove`"),
    ("rm", "use `cargo rm`"),
    ("update", "use `cargo update`; `cargo gmp` follows Cargo.lock"),
    ("generate-lockfile", "use `cargo generate-lockfile`; `cargo gmp` follows Cargo.lock"),
    ("clean", "use `cargo clean`, which removes what `cargo gmp` built too"),
    ("new", "use `cargo new`"),
    ("init", "use `cargo init`"),
    ("fmt", "use `cargo fmt`"),
    ("uninstall", "use `cargo uninstall`"),
    ("package", "use `cargo package`; a published package can't replace tokio"),
    ("publish", "use `cargo publish`; a published package can't replace tokio"),
    ("vendor", "use `cargo vendor`"),
    ("search", "use `cargo search`"),
    ("info", "use `cargo info`"),
    ("login", "use `cargo login`"),
    ("logout", "use `cargo logout`"),
    ("owner", "use `cargo owner`"),
    ("yank", "use `cargo yank`"),
    ("locate-project", "use `cargo locate-project`"),
    ("pkgid", "use `cargo pkgid`"),
];

/// Tools whose own subcommand comes before the options that they pass to cargo.
const NESTED: [&str; 2] = ["nextest", "miri"];

/// Prepares everything and becomes cargo; returns only if that fails.
pub(crate) fn run(subcommand: &OsStr, arguments: Vec<OsString>) -> Result<()> {
    let arguments = Arguments::parse(arguments);
    let cargo = Cargo::from_env(arguments.offline);
    check_subcommand(&cargo, subcommand)?;
    let error = prepare(&cargo, subcommand, &arguments)?.exec();
    Err(error).context("can't start cargo")
}

/// Prepares everything, and says what cargo is to be started with.
pub(crate) fn prepare(cargo: &Cargo, subcommand: &OsStr, arguments: &Arguments) -> Result<Command> {
    let project = Project::find(cargo, arguments)?;
    let (drop_in, _) = Sources::find()?.ready(cargo)?;
    let patched = lockfile::prepare(cargo, &project, arguments, &drop_in)?;
    command(cargo, subcommand, arguments, &project, &patched)
}

fn check_subcommand(cargo: &Cargo, subcommand: &OsStr) -> Result<()> {
    let name = subcommand.to_str().context("a subcommand has to be UTF-8")?;
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        bail!("`cargo gmp {name}` is not a thing: {instead}");
    }
    ensure!(!name.starts_with('-'), "unknown option `{name}`: options of cargo's go after the subcommand");
    if TAKEN.contains(&name) {
        return Ok(());
    }
    // An alias of the user's, or a tool that was installed.
    let list = cargo.output(cargo.command().arg("--list"))?;
    let list = String::from_utf8_lossy(&list.stdout);
    let is_known = list.lines().skip(1).any(|line| line.split_whitespace().next() == Some(name));
    ensure!(is_known, "unknown subcommand `{name}`: neither `cargo gmp` has it nor cargo (see `cargo gmp help`)");
    Ok(())
}

fn command(
    cargo: &Cargo,
    subcommand: &OsStr,
    arguments: &Arguments,
    project: &Project,
    patched: &Patched,
) -> Result<Command> {
    let own = if NESTED.iter().any(|nested| *nested == subcommand) { 1 } else { 0 };
    let (first, rest) = arguments.all.split_at(own.min(arguments.all.len()));
    let mut command = cargo.command();
    command.arg(subcommand).args(first).args(patched.arguments()?);
    command.envs(patched.environment());
    if !arguments.has_target_dir {
        keep_programs_apart(&mut command, project)?;
    }
    command.args(rest);
    Ok(command)
}

fn keep_programs_apart(command: &mut Command, project: &Project) -> Result<()> {
    let programs: PathBuf = project.gmp_directory();
    command.arg("--config").arg(assignment("build.target-dir", &programs)?);
    command.arg("--config").arg(assignment("build.build-dir", project.build_directory())?);
    // This variable has precedence over any configuration.
    if env::var_os("CARGO_TARGET_DIR").is_some() {
        command.env("CARGO_TARGET_DIR", programs);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_taken_and_refused() {
        assert!(REFUSED.iter().all(|(name, _)| !TAKEN.contains(name)));
    }

    #[test]
    fn refusals_say_what_to_do_instead() {
        let cargo = Cargo::from_env(true);
        let error = check_subcommand(&cargo, "add".as_ref()).unwrap_err().to_string();
        assert_eq!(error, "`cargo gmp add` is not a thing: use `cargo add`");
        let error = check_subcommand(&cargo, "--release".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("unknown option `--release`"), "{error}");
        let error = check_subcommand(&cargo, "rnu".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("unknown subcommand `rnu`"), "{error}");
        assert!(check_subcommand(&cargo, "search".as_ref()).is_err());
        assert!(check_subcommand(&cargo, "verify-project".as_ref()).is_ok(), "cargo --list has it");
    }
}
