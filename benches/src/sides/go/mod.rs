//! Go, in a process of its own that is asked for one repetition after the other.
//!
//! The process starts once for the whole table, and its start is complete when it has greeted, so
//! no figure contains the start. While the other sides have their turns it waits for its next line
//! and does nothing else.

mod build;
#[cfg(all(test, unix))]
pub(super) mod fake;
mod process;
mod talk;

use std::collections::HashMap;
use std::io;
use std::process::Command;

pub use self::build::build;
use self::process::Process;
use self::talk::{Answer, Greeting};
use crate::measure::Side;
use crate::rt::Tokio;
use crate::{memory, workloads};

/// The column of Go.
#[derive(Debug)]
pub(super) struct Go {
    program: Command,
    process: Process,
    greeting: Greeting,
    sizes: HashMap<&'static str, Size>,
}

/// The size of a repetition on every side.
#[derive(Debug, Clone, Copy)]
struct Size {
    rounds: u32,
    operations: u64,
}

impl Go {
    /// Builds the program and starts it with `GOMAXPROCS` set to `procs`.
    ///
    /// # Errors
    ///
    /// There is no `go`, or the program can't be built or started. The message says which.
    pub(super) fn start(procs: usize) -> io::Result<Self> {
        Go::run(Command::new(build("go")?), procs)
    }

    /// As [`Go::start`], with a program that was already built.
    pub(super) fn run(mut program: Command, procs: usize) -> io::Result<Self> {
        program.env("GOMAXPROCS", procs.to_string());
        let (process, greeting) = Process::start(&mut program)?;
        Ok(Go { program, process, greeting, sizes: sizes() })
    }

    /// The version that the program reports.
    pub(super) fn version(&self) -> &str {
        &self.greeting.version
    }

    fn ask(&mut self, workload: &str, rounds: u32) -> io::Result<Answer> {
        if workload == memory::NAME {
            let (mut process, _) = Process::start(&mut self.program)?;
            return process.ask(workload, rounds);
        }
        self.process.ask(workload, rounds)
    }
}

impl Side for Go {
    fn has(&self, workload: &str) -> bool {
        self.greeting.workloads.iter().any(|name| name == workload)
    }

    fn repetition(&mut self, workload: &str) -> io::Result<f64> {
        let size = self.sizes.get(workload).copied();
        let size = size.ok_or_else(|| io::Error::other(format!("`{workload}` is a workload in Go alone")))?;
        size.per_operation(self.ask(workload, size.rounds)?)
    }
}

impl Size {
    fn per_operation(self, answer: Answer) -> io::Result<f64> {
        let Size { operations, .. } = self;
        if answer.operations != operations {
            let message = format!("Go measured {} operations, the other sides {operations}", answer.operations);
            return Err(io::Error::other(message));
        }
        Ok(answer.total as f64 / operations as f64)
    }
}

fn sizes() -> HashMap<&'static str, Size> {
    let timed = workloads::all::<Tokio>().into_iter().map(|workload| (workload.name, workload.rounds, workload.ops));
    let all = timed.chain([(memory::NAME, 1, memory::TASKS)]);
    all.map(|(name, rounds, ops)| (name, Size { rounds, operations: u64::from(rounds) * u64::from(ops) })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_of_another_size_is_refused_with_both_sizes() {
        let size = Size { rounds: 2, operations: 2_000 };
        let error = size.per_operation(Answer { total: 1, operations: 1_000 }).unwrap_err().to_string();
        assert_eq!(error, "Go measured 1000 operations, the other sides 2000");
        assert_eq!(size.per_operation(Answer { total: 5_000, operations: 2_000 }).unwrap(), 2.5);
    }
}
