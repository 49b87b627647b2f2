//! The help for cargo's own subcommands: cargo's, and then the options that only `cargo gmp` has. No
//! project is needed for that.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::alias::Line;
use crate::cargo::Cargo;
use crate::printed::printed;
use crate::run::TAKEN;
use crate::tool::{exit_code, wait_for};

const RUN: &str = "
Options that `cargo gmp run` adds:
      --trace <FILE>   Record what the runtime does, for `cargo gmp trace <FILE>` and for Perfetto
      --console        Build and start the program so that tokio-console works on it
      --seed <SEED>    Let all that is left to chance follow from the seed
With --seed:
      --keep-order     Poll the tasks of current-thread runtimes in tokio's order
      --preempt        Interrupt threads at each basic block of the program
      --net <LIST>     How the simulated network misbehaves, as in GMP_SEED_NET
      --real-net       Allow real connections to other computers
";

const TEST: &str = "
Options that `cargo gmp test` adds, which run each test under seeds, with other orders of tasks and threads:
      --seeds <N>             Run each test under so many seeds
      --for <TIME>            Run each test under as many seeds as fit into that time (90, 90s, 5m or 1h)
      --seed <SEED>           Run the tests again under this seed, with their output
      --replay <FILE>         Run a test again with the choices of a failure that was shrunk
With any of these:
      --timeout <TIME>        The real time that a run may take (60s)
      --keep-order            Poll the tasks of current-thread runtimes in tokio's order
      --preempt               Interrupt threads at each basic block of the program
      --net <LIST>            How the simulated network misbehaves, as in GMP_SEED_NET
      --real-net              Allow real connections to other computers
With --seeds and --for:
      --check                 Run each test twice under each seed, and compare the two runs
      --first-seed <SEED>     Begin with this seed
      --json <FILE>           Write a line of JSON for each test
With --seed and --replay:
      --program <NAME>        Run the tests of this program alone, as `app::it`
";

/// Whether one of the options asks for help.
pub(crate) fn is_asked(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.any(|argument| argument == "--help" || argument == "-h")
}

/// Whether one of cargo's own subcommands is asked for its help.
pub(crate) fn is_asked_of_cargo(line: &Line) -> bool {
    let Line { before, subcommand, rest } = line;
    // What follows the first argument of `run` that is no option may be the program's.
    let is_run = subcommand == "run" || subcommand == "r";
    let options = rest.iter().take_while(|argument| !is_run || argument.as_encoded_bytes().starts_with(b"-")).count();
    TAKEN.iter().any(|name| subcommand == name) && (is_asked(before) || is_asked(&rest[..options]))
}

/// Prints cargo's help, and then what is added to it.
pub(crate) fn print(cargo: &Cargo, line: &Line) -> Result<ExitCode> {
    let mut command = cargo.command();
    command.args(&line.before).arg(&line.subcommand).args(&line.rest);
    let status = wait_for(&mut command).context("can't start cargo")?;
    if status.success() {
        printed(added(&line.subcommand))?;
    }
    Ok(ExitCode::from(exit_code(status)))
}

fn added(subcommand: &OsStr) -> &'static str {
    match subcommand.to_str() {
        Some("run" | "r") => RUN,
        Some("test" | "t") => TEST,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_programs_asks_for_no_help() {
        let is_asked = |line: &str| is_asked_of_cargo(&Line::parse(line.split(' ').map(OsString::from)).unwrap());
        for line in ["run --help", "r --release -h", "--help run", "test -p a --help", "tree -h"] {
            assert!(is_asked(line), "{line}");
        }
        for line in ["run -- --help", "run app --help", "test -- -h", "test help", "nextest --help"] {
            assert!(!is_asked(line), "{line}");
        }
    }
}
