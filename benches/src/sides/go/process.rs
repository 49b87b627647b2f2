//! The process and the pipes to it.

use std::io::{self, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::talk::{Answer, Greeting, Talk};

/// A program that answers questions; ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Process {
    // Dropped first: the program ends when its input does.
    talk: Talk<BufReader<ChildStdout>, ChildStdin>,
    _child: Waited,
}

impl Process {
    /// Starts the program and waits for its greeting.
    pub(super) fn start(program: &mut Command) -> io::Result<(Self, Greeting)> {
        let started = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| {
            let name = Path::new(program.get_program()).display();
            io::Error::new(error.kind(), format!("{name} can't be started: {error}"))
        })?;
        let (from, to) = (child.stdout.take(), child.stdin.take());
        let from = BufReader::new(from.expect("a pipe was asked for"));
        let talk = Talk::new(from, to.expect("a pipe was asked for"));
        let mut process = Process { talk, _child: Waited(child) };
        let greeting = process.talk.greeting()?;
        Ok((process, greeting))
    }

    /// Asks for `rounds` rounds of a workload.
    pub(super) fn ask(&mut self, workload: &str, rounds: u32) -> io::Result<Answer> {
        self.talk.ask(workload, rounds)
    }
}

/// A child process. Dropping this value waits for its end.
#[derive(Debug)]
struct Waited(Child);

impl Drop for Waited {
    fn drop(&mut self) {
        if let Err(error) = self.0.wait() {
            eprintln!("gmp-benches: the program in Go can't be waited for: {error}");
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::sides::go::fake;

    #[test]
    fn a_program_answers_as_often_as_it_is_asked_and_knows_its_procs() {
        let script = "echo ready fake $GOMAXPROCS; while read name rounds; do echo $rounds 7; done";
        let mut fake = fake::program(script);
        let (mut process, greeting) = Process::start(fake.command.env("GOMAXPROCS", "64")).unwrap();
        assert_eq!((greeting.version.as_str(), greeting.workloads.as_slice()), ("fake", &["64".to_owned()][..]));
        for rounds in [3, 5] {
            assert_eq!(process.ask("anything", rounds).unwrap(), Answer { total: u64::from(rounds), operations: 7 });
        }
    }

    #[test]
    fn a_program_that_ends_at_once_is_an_error() {
        let error = Process::start(&mut fake::program("exit 3").command).unwrap_err().to_string();
        assert_eq!(error, "the program in Go has ended");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Process::start(&mut Command::new("/nowhere/gmp-benches-go")).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/gmp-benches-go can't be started: "), "{error}");
    }
}
