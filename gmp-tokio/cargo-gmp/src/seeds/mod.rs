//! `cargo gmp test --seeds`: runs each test under many seeds, and finds the orders of tasks and threads
//! under which it fails.
//!
//! The drop-in is built with its feature `seeded` ([`drop_in`]). Cargo builds the tests and starts each
//! program, so that filters, folders and variables are those of `cargo test`; but this command, as
//! cargo's runner, only notes how the program was to be started ([`program`]). Then each test runs under
//! each seed in a process of its own ([`process`], [`explore`]).

mod again;
mod build;
mod drop_in;
mod ending;
mod explore;
mod json;
mod kept;
mod listing;
mod misplaced;
mod mode;
pub(crate) mod nextest;
mod none;
mod plan;
mod preempt;
mod process;
pub(crate) mod program;
mod repeat;
mod report;
pub(crate) mod request;
mod shrink;
mod shrunk;
mod story;
mod summary;
mod system;
mod targets;
mod tell;
/// The engine's own file.
#[path = "../../sources/gmp-exec/src/seeded/network/wish.rs"]
mod wish;

use std::process::ExitCode;

use anyhow::{Result, ensure};

use self::build::Built;
use self::kept::Kept;
use self::request::{Request, Task};
use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::project::Project;

/// What fails like a test does.
const FAILED: u8 = 101;

pub(crate) fn run(line: Line, request: Request) -> Result<ExitCode> {
    let is_there = cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"));
    ensure!(is_there, "seeded runs need Linux with glibc, on 64 bits");
    let line_again = again::command_line(&line, &request);
    let arguments = Arguments::of(line.before.clone(), line.rest.clone());
    let cargo = Cargo::from_env(arguments.offline);
    let project = Project::find(&cargo, &arguments)?;
    let build = |subcommand| -> Result<_> {
        let mut cargo = build::command(&cargo, subcommand, &arguments, &project, request.mode())?;
        // Programs inherit this from cargo.
        cargo.envs(request.net.as_ref().map(|net| ("GMP_SEED_NET", net)));
        Ok(cargo)
    };
    if let Task::Program { seed, mode } = request.task {
        return build::become_program(build("run")?, seed, mode);
    }
    let built = match nextest::is_run(&line) {
        true => nextest::tests(&cargo, &arguments, &project, &request)?,
        false => build::tests(build("test")?)?,
    };
    let tests = match built {
        Built::Tests(tests) => tests,
        Built::Failed(code) => return Ok(ExitCode::from(code)),
    };
    if arguments.builds_only() {
        return Ok(ExitCode::SUCCESS);
    }
    system::fix_addresses()?;
    let suffix = request.suffix();
    let has_passed = match request.task {
        Task::Explore(options) => {
            if tests.is_empty() {
                eprintln!("warning: {}", none::fits(&arguments.all));
            }
            let kept = Kept::read(&project, suffix)?;
            explore::explore(&tests, &options, kept, &project, &line_again)?
        }
        Task::Again(again) => {
            ensure!(!tests.is_empty(), none::fits(&arguments.all));
            again::again(tests, &again, &project)?
        }
        Task::Program { .. } => unreachable!("handled above"),
    };
    Ok(ExitCode::from(if has_passed { 0 } else { FAILED }))
}
