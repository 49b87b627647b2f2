//! Go: the program in `benches/go`, a process that is asked for one repetition after the other, one
//! line each; `main.go` has the other end.
//!
//! The process starts once for the whole table, and its start is complete when it has greeted with
//! `ready VERSION NAME...`, so no figure contains the start. A question is `NAME ROUNDS`, its answer
//! `TOTAL OPERATIONS` or `error TEXT`. While the other sides have their turns the process waits for
//! its next line and does nothing else.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::child::Piped;
use crate::rt::Tokio;
use crate::workloads::{self, Group};

/// The directory of the source when this program was built.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/go");

/// Builds the program with the command `go`, beside this program, and returns the path of the
/// result. This is quick if nothing has changed. Errors name what is missing.
pub fn build() -> io::Result<PathBuf> {
    if !Path::new(SOURCE).is_dir() {
        return Err(io::Error::other(format!("its program is not at {SOURCE} any more")));
    }
    let program = env::current_exe()?.with_file_name("gmp-benches-go");
    let mut go = Command::new("go");
    // The installed version is measured: Go must not download another one.
    go.env("GOTOOLCHAIN", "local").args(["build", "-buildvcs=false", "-o"]).arg(&program).current_dir(SOURCE);
    let output = go.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), "there is no command `go`"),
        kind => io::Error::new(kind, format!("the command `go` can't be run: {error}")),
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("`go build` failed ({}): {}", output.status, message.trim())));
    }
    Ok(program)
}

#[derive(Debug)]
pub(super) struct Go {
    program: Command,
    process: Process,
}

impl Go {
    /// Builds the program and starts it with `GOMAXPROCS` set to `procs`.
    pub(super) fn start(procs: usize) -> io::Result<Self> {
        Go::run(Command::new(build()?), procs)
    }

    /// As [`Go::start`], with a program that was already built.
    pub(super) fn run(mut program: Command, procs: usize) -> io::Result<Self> {
        program.env("GOMAXPROCS", procs.to_string());
        let process = Process::start(&mut program)?;
        Ok(Go { program, process })
    }

    /// The version that the program reports.
    pub(super) fn version(&self) -> &str {
        &self.process.version
    }

    pub(super) fn has(&self, workload: &str) -> bool {
        self.process.workloads.iter().any(|name| name == workload)
    }

    /// The result is in the unit of the row.
    pub(super) fn repetition(&mut self, workload: &str) -> io::Result<f64> {
        let found = workloads::all::<Tokio>().into_iter().find(|it| it.name == workload);
        let found = found.ok_or_else(|| io::Error::other(format!("`{workload}` is a workload in Go alone")))?;
        let answer = match found.group {
            Group::Memory => Process::start(&mut self.program)?.ask(workload, found.rounds),
            _ => self.process.ask(workload, found.rounds),
        };
        per_operation(answer?, u64::from(found.rounds) * u64::from(found.ops))
    }
}

/// Go's repetition must have as many operations as those of the other sides.
fn per_operation((total, measured): (u64, u64), operations: u64) -> io::Result<f64> {
    if measured != operations {
        let message = format!("Go measured {measured} operations, the other sides {operations}");
        return Err(io::Error::other(message));
    }
    Ok(total as f64 / operations as f64)
}

/// A program that answers questions.
#[derive(Debug)]
struct Process {
    pipes: Piped,
    version: String,
    workloads: Vec<String>,
}

impl Process {
    fn start(program: &mut Command) -> io::Result<Self> {
        let mut pipes = Piped::start(program)?;
        let line = pipes.line()?;
        let mut words = line.split(' ').map(str::to_owned);
        match (words.next().as_deref(), words.next()) {
            (Some("ready"), Some(version)) => Ok(Process { pipes, version, workloads: words.collect() }),
            _ => Err(unexpected(&line)),
        }
    }

    /// Asks for `rounds` rounds of a workload. Returns the total of the operations, in the unit of
    /// the row, and their number.
    fn ask(&mut self, workload: &str, rounds: u32) -> io::Result<(u64, u64)> {
        self.pipes.tell(&format!("{workload} {rounds}"))?;
        let line = self.pipes.line()?;
        let numbers = line.split_once(' ').and_then(|(total, count)| Some((total.parse().ok()?, count.parse().ok()?)));
        numbers.ok_or_else(|| unexpected(&line))
    }
}

fn unexpected(line: &str) -> io::Error {
    io::Error::other(match line.strip_prefix("error ") {
        Some(text) => format!("the program in Go says: {text}"),
        None => format!("the program in Go answered `{line}`"),
    })
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
            assert_eq!(go.process.ask("anything", rounds).unwrap(), (u64::from(rounds), 7));
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
            assert_eq!(go.process.ask("mpsc_1", 1).unwrap_err().to_string(), said);
        }
        assert!(Go::run(fake("echo hello"), 1).is_err());
    }
}
