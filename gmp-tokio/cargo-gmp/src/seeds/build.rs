//! Builds tests and programs with the drop-in for seeded runs.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};

use super::drop_in;
use super::listing::{self, Test};
use super::mode::Mode;
use super::preempt;
use super::program::{Program, VARIABLE};
use super::request::VARIABLE as SEED;
use super::system::fix_addresses;
use super::targets::{self, Targets};
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::lockfile::assignment;
use crate::project::Project;
use crate::tool::exit_code;
use crate::{configuration, hindrances, run};

/// Options that choose what is built. Without one, cargo would also run doc tests.
const CHOICES: [&str; 7] = ["--lib", "--bin", "--bins", "--test", "--tests", "--example", "--examples"];

pub(super) enum Built {
    Tests(Vec<Test>),
    /// Cargo's exit code.
    Failed(u8),
}

/// The command that starts cargo. Programs have a folder of their own, so that those of `cargo gmp
/// build` stay what they are.
pub(super) fn command(
    cargo: &Cargo,
    subcommand: &str,
    arguments: &Arguments,
    project: &Project,
    mode: Mode,
) -> Result<Command> {
    if let Some(runner) = configuration::runners(&project.current_directory()?, arguments.target.as_deref())?.first() {
        bail!("programs can't be run under seeds: {} configures a runner", runner.place);
    }
    hindrances::check_seeded_target(arguments, project)?;
    let patched = run::patched(cargo, project, arguments)?;
    let folder = project.seeds_directory();
    let patched = patched.seeded(|drop_in| drop_in::write(drop_in, &folder.join("tokio")))?;
    let mut arguments = arguments.clone();
    if mode.preempts {
        preempt::choose(&mut arguments, &folder)?;
    } else if arguments.target_dir.is_none() {
        let programs = programs(project);
        arguments.before.extend(["--config".into(), assignment("build.build-dir", project.build_directory())?]);
        arguments.before.extend(["--target-dir".into(), programs.clone().into()]);
        arguments.target_dir = Some(programs);
    }
    if subcommand == "test" {
        if !asks_for_messages(&arguments) {
            arguments.before.extend(targets::OPTION.map(Into::into));
        }
        if !has_choice(&arguments) {
            arguments.before.push("--tests".into());
        }
    }
    let mut command = run::command(cargo, subcommand.as_ref(), &arguments, project, &patched)?;
    if mode.preempts {
        preempt::prefer_script(&mut command);
    }
    Ok(command)
}

/// The folder of the programs for seeded runs.
pub(super) fn programs(project: &Project) -> PathBuf {
    project.seeds_directory().join("programs")
}

/// nextest reads them.
fn asks_for_messages(arguments: &Arguments) -> bool {
    arguments.all.iter().any(|argument| argument.as_encoded_bytes().starts_with(targets::OPTION[0].as_bytes()))
}

fn has_choice(arguments: &Arguments) -> bool {
    let mut cargos = arguments.all.iter().take_while(|argument| *argument != "--").filter_map(|it| it.to_str());
    cargos.any(|option| option == "--all-targets" || CHOICES.contains(&option.split('=').next().unwrap_or_default()))
}

/// Builds the tests, and lists those that the user's filters choose.
pub(super) fn tests(mut cargo: Command) -> Result<Built> {
    let folder = tempfile::tempdir()?;
    cargo.env(VARIABLE, folder.path()).env_remove(SEED).stdin(Stdio::null()).stderr(Stdio::inherit());
    let built = cargo.output().context("can't start cargo")?;
    if !built.status.success() {
        return Ok(Built::Failed(exit_code(built.status)));
    }
    let targets = Targets::read(&String::from_utf8_lossy(&built.stdout));
    let mut tests = Vec::new();
    for program in Program::read_all(folder.path(), &targets)? {
        tests.extend(listing::tests(program)?);
    }
    Ok(Built::Tests(tests))
}

/// Builds and starts a program under the seed. Returns only if that fails.
pub(super) fn become_program(mut cargo: Command, seed: u64, mode: Mode) -> Result<ExitCode> {
    fix_addresses()?;
    mode.set(&mut cargo);
    Err(cargo.env("GMP_SEED", format!("{seed:x}")).exec()).context("can't start cargo")
}
