//! Go, in a process of its own that is asked for one repetition after the other.
//!
//! The process starts once for the whole table, and its start is complete when it has greeted, so
//! no figure contains the start. While the other sides have their turns it waits for its next line
//! and does nothing else.

pub(super) mod process;

use std::io;
use std::process::Command;

pub use self::process::build;
use self::process::{Answer, Greeting, Process};
use crate::measure::Side;
use crate::rt::Tokio;
use crate::{memory, workloads};

#[derive(Debug)]
pub(super) struct Go {
    program: Command,
    process: Process,
    greeting: Greeting,
}

impl Go {
    /// Builds the program and starts it with `GOMAXPROCS` set to `procs`. Errors name what is
    /// missing.
    pub(super) fn start(procs: usize) -> io::Result<Self> {
        Go::run(Command::new(build("go")?), procs)
    }

    /// As [`Go::start`], with a program that was already built.
    pub(super) fn run(mut program: Command, procs: usize) -> io::Result<Self> {
        program.env("GOMAXPROCS", procs.to_string());
        let (process, greeting) = Process::start(&mut program)?;
        Ok(Go { program, process, greeting })
    }

    /// The version that the program reports.
    pub(super) fn version(&self) -> &str {
        &self.greeting.version
    }
}

impl Side for Go {
    fn has(&self, workload: &str) -> bool {
        self.greeting.workloads.iter().any(|name| name == workload)
    }

    fn repetition(&mut self, workload: &str) -> io::Result<f64> {
        if workload == memory::NAME {
            let (mut process, _) = Process::start(&mut self.program)?;
            return per_operation(process.ask(workload, 1)?, memory::TASKS.into());
        }
        let found = workloads::all::<Tokio>().into_iter().find(|it| it.name == workload);
        let found = found.ok_or_else(|| io::Error::other(format!("`{workload}` is a workload in Go alone")))?;
        let operations = u64::from(found.rounds) * u64::from(found.ops);
        per_operation(self.process.ask(workload, found.rounds)?, operations)
    }
}

/// Go's repetition must have as many operations as those of the other sides.
fn per_operation(answer: Answer, operations: u64) -> io::Result<f64> {
    if answer.operations != operations {
        let message = format!("Go measured {} operations, the other sides {operations}", answer.operations);
        return Err(io::Error::other(message));
    }
    Ok(answer.total as f64 / operations as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_of_another_size_is_refused_with_both_sizes() {
        let error = per_operation(Answer { total: 1, operations: 1_000 }, 2_000).unwrap_err().to_string();
        assert_eq!(error, "Go measured 1000 operations, the other sides 2000");
        assert_eq!(per_operation(Answer { total: 5_000, operations: 2_000 }, 2_000).unwrap(), 2.5);
    }
}
