//! `cargo gmp <subcommand>`: runs cargo with the drop-in instead of tokio.
//!
//! When everything is prepared, this process becomes cargo (`exec`). Nothing has to be restored
//! afterwards, so this process need not wait for cargo to end, and need not pass on exit codes,
//! signals or Ctrl-C.
//!
//! Programs go to `target/gmp`; intermediate files stay where cargo keeps them. Builds on tokio and
//! on gmp then share every crate that doesn't depend on tokio, neither build makes the other
//! compile again, and `target/release/app` is never the other runtime's program by surprise. With a
//! separate target directory, everything would be compiled twice. With a shared one, `cargo run`
//! could start the program that `cargo gmp run` has just put there.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use toml_edit::Array;

use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::lockfile::{self, Patched, assignment};
use crate::nested::{self, Folder, TARGET};
use crate::project::Project;
use crate::seeds::request::Request;
use crate::sources::{Sources, path_text};
use crate::{configuration, console, handed_over, help, hindrances, lines, seeds, tool};

/// Cargo's own subcommands that build, run or describe.
pub(crate) const TAKEN: [&str; 17] = [
    "run", "r", "build", "b", "test", "t", "check", "c", "bench", "doc", "d", "rustc", "rustdoc", "fix", "fetch",
    "tree", "metadata",
];

/// Subcommands for which the choice of tokio does not matter, or that would write files that
/// `cargo gmp` must leave alone.
pub(crate) const REFUSED: [(&str, &str); 21] = [
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

/// Becomes cargo, or starts the tool of that name.
pub(crate) fn run(arguments: Vec<OsString>) -> Result<ExitCode> {
    let here = env::current_dir().context("the current folder is gone")?;
    let line = Line::parse(arguments).context("cargo's options alone are nothing to do (see `cargo gmp help`)")?;
    let mut line = line.expand(&here)?;
    let cargo = Cargo::from_env(false);
    let request = Request::take(&mut line)?;
    let own = match request {
        None => OwnOptions { trace: take_trace(&mut line)?, console: console::take(&mut line) },
        Some(_) => OwnOptions::default(),
    };
    if help::is_asked_of_cargo(&line) {
        return help::print(&cargo, &line);
    }
    if let Some(request) = request {
        return seeds::run(line, request);
    }
    if let Some(program) = tool_for(&line.subcommand) {
        return tool::run(&cargo, program, &line);
    }
    check_subcommand(&cargo, &line.subcommand)?;
    become_cargo(line, own).map(|()| ExitCode::SUCCESS)
}

/// The tool of that name, unless cargo itself has the subcommand.
pub(crate) fn tool_for(subcommand: &OsStr) -> Option<PathBuf> {
    let is_cargos = TAKEN.iter().chain(REFUSED.iter().map(|(name, _)| name)).any(|name| *name == subcommand);
    if is_cargos { None } else { tool::find(subcommand) }
}

/// The options of `run` that are not cargo's.
#[derive(Debug, Default)]
pub(crate) struct OwnOptions {
    trace: Option<OsString>,
    console: bool,
}

/// Prepares everything and becomes cargo. Returns only if that fails.
pub(crate) fn become_cargo(line: Line, own: OwnOptions) -> Result<()> {
    let mut arguments = Arguments::of(line.before, line.rest);
    let cargo = Cargo::from_env(arguments.offline);
    let flags = if own.console { console::add(&cargo, &mut arguments)? } else { None };
    let mut command = prepare(&cargo, &line.subcommand, &arguments)?;
    command.envs(flags);
    if let Some(trace) = own.trace {
        command.env("GMP_TRACE", trace);
    }
    let error = command.exec();
    Err(error).context("can't start cargo")
}

/// Prepares everything, and returns the command that starts cargo.
pub(crate) fn prepare(cargo: &Cargo, subcommand: &OsStr, arguments: &Arguments) -> Result<Command> {
    let project = Project::find(cargo, arguments)?;
    hindrances::check_target(arguments, &project)?;
    let patched = patched(cargo, &project, arguments)?;
    if patched.is_unused() && nested::own_name().is_none() {
        eprintln!("warning: nothing in this workspace depends on tokio, so nothing of it is on gmp");
    }
    command(cargo, subcommand, arguments, &project, &patched)
}

/// Prepares the drop-in and its lock file.
pub(crate) fn patched(cargo: &Cargo, project: &Project, arguments: &Arguments) -> Result<Patched> {
    hindrances::check(cargo, project)?;
    let ready = || {
        let (drop_in, _) = Sources::find()?.ready(cargo)?;
        lockfile::prepare(cargo, project, arguments, &drop_in)
    };
    ready().map_err(|error| hindrances::explain(error, project))
}

/// Takes `--trace SETTINGS`, which is not cargo's, from among the options of `run`.
fn take_trace(line: &mut Line) -> Result<Option<OsString>> {
    if line.subcommand != "run" && line.subcommand != "r" {
        return Ok(None);
    }
    let programs = line.rest.iter().position(|argument| argument == "--").unwrap_or(line.rest.len());
    for index in 0..programs {
        let argument = line.rest[index].as_encoded_bytes();
        if argument == b"--trace" {
            ensure!(index + 1 < programs, "`--trace` needs a file");
            line.rest.remove(index);
            return Ok(Some(line.rest.remove(index)));
        }
        if let Some(value) = argument.strip_prefix(b"--trace=") {
            ensure!(!value.is_empty(), "`--trace` needs a file");
            let file = OsStr::from_bytes(value).to_owned();
            line.rest.remove(index);
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn check_subcommand(cargo: &Cargo, subcommand: &OsStr) -> Result<()> {
    let name = subcommand.to_str().context("a subcommand has to be UTF-8")?;
    if let Some((_, instead)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
        bail!("`cargo gmp {name}` is not a thing: {instead}");
    }
    if TAKEN.contains(&name) {
        return Ok(());
    }
    let list = cargo.output(cargo.command().arg("--list"))?;
    let list = String::from_utf8_lossy(&list.stdout);
    let is_known = list.lines().skip(1).any(|line| line.split_whitespace().next() == Some(name));
    ensure!(is_known, "unknown subcommand `{name}`: neither `cargo gmp` has it nor cargo (see `cargo gmp help`)");
    Ok(())
}

/// This command's own arguments, and the user's arguments from before the subcommand, come directly
/// after the subcommand. They are cargo's there, whatever follows, because aliases are already
/// expanded. Before the subcommand, cargo would forget all of them as soon as one `--config`
/// follows the subcommand.
pub(crate) fn command(
    cargo: &Cargo,
    subcommand: &OsStr,
    arguments: &Arguments,
    project: &Project,
    patched: &Patched,
) -> Result<Command> {
    let mut command = cargo.command();
    answer_sigquit(&mut command, subcommand);
    command.arg(subcommand).args(patched.arguments()?).envs(patched.environment());
    for lines in lines::settings(subcommand, arguments, project)? {
        command.arg("--config").arg(lines);
    }
    if arguments.target_dir.is_none() {
        keep_programs_apart(&mut command, project)?;
    }
    start_programs(&mut command, project, arguments)?;
    command.args(&arguments.before).args(&arguments.all);
    Ok(command)
}

/// On a terminal, Ctrl-\\ prints the tasks of a program (`GMP_DEBUG=sigquit=1`), unless the user
/// has other settings. Programs that run elsewhere keep the system's default.
fn answer_sigquit(command: &mut Command, subcommand: &OsStr) {
    let is_run = subcommand == "run" || subcommand == "r";
    if is_run && io::stderr().is_terminal() && env::var_os("GMP_DEBUG").is_none() {
        command.env("GMP_DEBUG", "sigquit=1");
    }
}

/// The folder for gmp's programs.
pub(crate) fn programs(project: &Project, arguments: &Arguments) -> Result<PathBuf> {
    match &arguments.target_dir {
        Some(chosen) => Ok(project.current_directory()?.join(chosen)),
        None => Ok(project.gmp_directory()),
    }
}

fn keep_programs_apart(command: &mut Command, project: &Project) -> Result<()> {
    let programs = project.gmp_directory();
    command.arg("--config").arg(assignment("build.target-dir", &programs)?);
    command.arg("--config").arg(assignment("build.build-dir", project.build_directory())?);
    // This variable takes precedence over any configuration.
    if env::var_os("CARGO_TARGET_DIR").is_some() {
        command.env("CARGO_TARGET_DIR", &programs).env(TARGET, project.target_directory());
    }
    Ok(())
}

/// Makes cargo start programs through [`crate::program`].
fn start_programs(command: &mut Command, project: &Project, arguments: &Arguments) -> Result<()> {
    handed_over::take_back(command);
    if let Some(runner) = configuration::runners(&project.current_directory()?, arguments.target.as_deref())?.first() {
        let place = &runner.place;
        eprintln!(
            "note: a runner is configured by {place} and is used instead of gmp's: a test that looks for programs \
             beside itself, or that starts cargo, may get those on tokio"
        );
        return Ok(());
    }
    let words: Array = runner(project, &programs(project, arguments)?)?.into_iter().collect();
    command.arg("--config").arg(format!("target.'cfg(all())'.runner={words}"));
    Ok(())
}

/// The words of the runner that starts a program through [`crate::program`].
pub(crate) fn runner(project: &Project, programs: &Path) -> Result<[String; 3]> {
    let starter = Folder::make(project)?.starter();
    let [starter, between, programs] = [&starter, project.build_directory(), programs].map(path_text);
    Ok([starter?, between?, programs?].map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_both_taken_and_refused() {
        assert!(REFUSED.iter().all(|(name, _)| !TAKEN.contains(name)));
    }

    #[test]
    fn the_file_of_a_trace_is_taken_out_of_the_options() {
        let take = |text: &str| {
            let mut line = Line::parse(text.split_whitespace().map(OsString::from)).unwrap();
            let file = take_trace(&mut line)?;
            anyhow::Ok((file, line.rest))
        };
        let expected = (Some("a,size=1MiB".into()), vec!["--release".into(), "--".into(), "--trace".into()]);
        assert_eq!(take("run --trace a,size=1MiB --release -- --trace").unwrap(), expected);
        assert_eq!(take("r --release --trace=a,size=1MiB -- --trace").unwrap(), expected);
        assert_eq!(take("test --trace a").unwrap().0, None, "cargo will refuse it");
        for line in ["run --trace", "run --trace= -- a", "run --trace -- a"] {
            assert_eq!(take(line).unwrap_err().to_string(), "`--trace` needs a file", "{line}");
        }
    }

    #[test]
    fn refusals_say_what_to_do_instead() {
        let cargo = Cargo::from_env(true);
        let error = check_subcommand(&cargo, "add".as_ref()).unwrap_err().to_string();
        assert_eq!(error, "`cargo gmp add` is not a thing: use `cargo add`");
        let error = check_subcommand(&cargo, "rnu".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("unknown subcommand `rnu`"), "{error}");
        assert!(check_subcommand(&cargo, "search".as_ref()).is_err());
        assert!(check_subcommand(&cargo, "verify-project".as_ref()).is_ok(), "cargo --list has it");
    }
}
