//! Go: the program in `benches/go`, a process that is asked for one repetition after the other, one
//! line each; `main.go` has the other end.
//!
//! The process starts once for the whole table, and its start is complete when it has greeted with
//! `ready VERSION NAME...`. A question is `NAME ROUNDS`, its answer `TOTAL OPERATIONS` or
//! `error TEXT`. While the other sides have their turns the process waits for its next line.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, io};

use anyhow::{Context, Result, bail, ensure};

use crate::child::Piped;
use crate::rt::Tokio;
use crate::workloads::{self, Group};

/// The directory of the source when this program was built.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/go");

/// Builds the program with the command `go`, beside this program, and returns the path of the
/// result. This is quick if nothing has changed. Errors name what is missing.
pub fn build() -> Result<PathBuf> {
    ensure!(Path::new(SOURCE).is_dir(), "its program is not at {SOURCE} any more");
    let program = env::current_exe()?.with_file_name("gmp-benches-go");
    let mut go = Command::new("go");
    // The installed version is measured: Go must not download another one.
    go.env("GOTOOLCHAIN", "local").args(["build", "-buildvcs=false", "-o"]).arg(&program).current_dir(SOURCE);
    let output = match go.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!("there is no command `go`"),
        output => output.context("the command `go` can't be run")?,
    };
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`go build` failed ({}): {}", output.status, message.trim());
    Ok(program)
}

#[derive(Debug)]
pub(super) struct Go {
    program: Command,
    process: Piped,
    /// Its version, then the names of its workloads.
    greeting: Vec<String>,
}

impl Go {
    /// Builds the program and starts it with `GOMAXPROCS` set to `procs`.
    pub(super) fn start(procs: usize) -> Result<Self> {
        Go::run(Command::new(build()?), procs)
    }

    /// As [`Go::start`], with a program that was already built.
    pub(super) fn run(mut program: Command, procs: usize) -> Result<Self> {
        let (process, greeting) = started(program.env("GOMAXPROCS", procs.to_string()))?;
        Ok(Go { program, process, greeting })
    }

    pub(super) fn version(&self) -> &str {
        &self.greeting[0]
    }

    pub(super) fn has(&self, workload: &str) -> bool {
        self.greeting[1..].iter().any(|name| name == workload)
    }

    /// The result is in the unit of the row.
    pub(super) fn repetition(&mut self, workload: &str) -> Result<f64> {
        let found = workloads::all::<Tokio>().into_iter().find(|it| it.name == workload);
        let found = found.with_context(|| format!("`{workload}` is a workload in Go alone"))?;
        let answer = match found.group {
            Group::Memory => ask(&mut started(&mut self.program)?.0, workload, found.rounds),
            _ => ask(&mut self.process, workload, found.rounds),
        };
        per_operation(answer?, u64::from(found.rounds) * u64::from(found.ops))
    }
}

/// Go's repetition must have as many operations as those of the other sides.
fn per_operation((total, measured): (u64, u64), operations: u64) -> Result<f64> {
    ensure!(measured == operations, "Go measured {measured} operations, the other sides {operations}");
    Ok(total as f64 / operations as f64)
}

/// A process that has greeted, and what it said after `ready`.
fn started(program: &mut Command) -> Result<(Piped, Vec<String>)> {
    let mut process = Piped::start(program)?;
    let line = process.line()?;
    let words = line.strip_prefix("ready ").with_context(|| unexpected(&line))?;
    Ok((process, words.split(' ').map(str::to_owned).collect()))
}

/// Asks for `rounds` rounds of a workload. Returns their total, in the row's unit, and how many.
fn ask(process: &mut Piped, workload: &str, rounds: u32) -> Result<(u64, u64)> {
    process.tell(&format!("{workload} {rounds}"))?;
    let line = process.line()?;
    let numbers = line.split_once(' ').and_then(|(total, count)| Some((total.parse().ok()?, count.parse().ok()?)));
    numbers.with_context(|| unexpected(&line))
}

fn unexpected(line: &str) -> String {
    match line.strip_prefix("error ") {
        Some(text) => format!("the program in Go says: {text}"),
        None => format!("the program in Go answered `{line}`"),
    }
}

#[cfg(test)]
pub(in crate::sides) mod tests {
    use super::*;

    /// A shell script in place of the program in Go.
    pub(in crate::sides) fn fake(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_repetition_of_another_size_is_refused_with_both_sizes() {
        let error = per_operation((1, 1_000), 2_000).unwrap_err().to_string();
        assert_eq!(error, "Go measured 1000 operations, the other sides 2000");
        assert_eq!(per_operation((5_000, 2_000), 2_000).unwrap(), 2.5);
    }

    #[test]
    fn a_program_answers_as_often_as_it_is_asked_and_knows_its_procs() {
        let script = "echo ready fake $GOMAXPROCS; while read name rounds; do echo $rounds 7; done";
        let mut go = Go::run(fake(script), 64).unwrap();
        assert!(go.version() == "fake" && go.has("64"));
        for rounds in [3, 5] {
            assert_eq!(ask(&mut go.process, "anything", rounds).unwrap(), (u64::from(rounds), 7));
        }
    }

    #[test]
    fn an_error_is_passed_on_and_nonsense_is_quoted() {
        for (answer, said) in [
            ("echo error too many files", "the program in Go says: too many files"),
            ("echo 81000", "the program in Go answered `81000`"),
            ("exit", "the process has ended"),
        ] {
            let mut go = Go::run(fake(&format!("echo ready fake; read line; {answer}")), 1).unwrap();
            assert_eq!(ask(&mut go.process, "mpsc_1", 1).unwrap_err().to_string(), said);
        }
        assert!(Go::run(fake("echo hello"), 1).is_err());
    }
}
