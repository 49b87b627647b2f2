//! The program in `benches/go`: how it is built and started, and the messages to and from it, one
//! per line; `main.go` has the other end.
//!
//! The program greets with `ready VERSION NAME...`. A question is `NAME ROUNDS`, its answer
//! `TOTAL OPERATIONS` or `error TEXT`.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, mem};

/// The directory of the source when this program was built.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/go");

/// Builds the program with the command `go`, beside this program, and returns the path of the
/// result. This is quick if nothing has changed.
pub fn build(go: &str) -> io::Result<PathBuf> {
    if !Path::new(SOURCE).is_dir() {
        return Err(io::Error::other(format!("its program is not at {SOURCE} any more")));
    }
    let program = env::current_exe()?.with_file_name("gmp-benches-go");
    let mut command = Command::new(go);
    // The installed version is measured: Go must not download another one.
    command.env("GOTOOLCHAIN", "local").args(["build", "-buildvcs=false", "-o"]).arg(&program).current_dir(SOURCE);
    let output = command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(error.kind(), format!("there is no command `{go}`")),
        kind => io::Error::new(kind, format!("the command `{go}` can't be run: {error}")),
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("`{go} build` failed ({}): {}", output.status, message.trim())));
    }
    Ok(program)
}

/// A program that answers questions; ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    from: BufReader<ChildStdout>,
    to: Option<ChildStdin>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) workloads: Vec<String>,
}

/// An answer: the total of the operations, in the unit of the row, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) total: u64,
    pub(super) operations: u64,
}

impl Process {
    pub(super) fn start(program: &mut Command) -> io::Result<(Self, Greeting)> {
        let started = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| {
            let name = Path::new(program.get_program()).display();
            io::Error::new(error.kind(), format!("{name} can't be started: {error}"))
        })?;
        let (from, to) = (child.stdout.take().expect("a pipe was asked for"), child.stdin.take());
        let mut process = Process { child, from: BufReader::new(from), to };
        let greeting = process.greeting()?;
        Ok((process, greeting))
    }

    fn greeting(&mut self) -> io::Result<Greeting> {
        let line = self.line()?;
        let mut words = line.split(' ').map(str::to_owned);
        match (words.next().as_deref(), words.next()) {
            (Some("ready"), Some(version)) => Ok(Greeting { version, workloads: words.collect() }),
            _ => Err(unexpected(&line)),
        }
    }

    /// Asks for `rounds` rounds of a workload.
    pub(super) fn ask(&mut self, workload: &str, rounds: u32) -> io::Result<Answer> {
        // A single write: half a line must not wake the program.
        self.to.as_mut().expect("only a drop closes it").write_all(format!("{workload} {rounds}\n").as_bytes())?;
        let line = self.line()?;
        answer(&line).ok_or_else(|| unexpected(&line))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the program in Go has ended"));
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Process {
    /// The program ends when its input does.
    fn drop(&mut self) {
        drop(mem::take(&mut self.to));
        if let Err(error) = self.child.wait() {
            eprintln!("gmp-benches: the program in Go can't be waited for: {error}");
        }
    }
}

fn answer(line: &str) -> Option<Answer> {
    let (total, operations) = line.split_once(' ')?;
    Some(Answer { total: total.parse().ok()?, operations: operations.parse().ok()? })
}

fn unexpected(line: &str) -> io::Error {
    io::Error::other(match line.strip_prefix("error ") {
        Some(text) => format!("the program in Go says: {text}"),
        None => format!("the program in Go answered `{line}`"),
    })
}

#[cfg(all(test, unix))]
pub(in crate::sides) mod tests {
    use super::*;

    /// A shell script in place of the program in Go.
    pub(in crate::sides) fn fake(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_answers_as_often_as_it_is_asked_and_knows_its_procs() {
        let script = "echo ready fake $GOMAXPROCS; while read name rounds; do echo $rounds 7; done";
        let (mut process, greeting) = Process::start(fake(script).env("GOMAXPROCS", "64")).unwrap();
        assert_eq!(greeting, Greeting { version: "fake".to_owned(), workloads: vec!["64".to_owned()] });
        for rounds in [3, 5] {
            assert_eq!(process.ask("anything", rounds).unwrap(), Answer { total: u64::from(rounds), operations: 7 });
        }
    }

    #[test]
    fn an_error_is_passed_on_and_nonsense_is_quoted() {
        let error = |answer: &str| {
            let (mut process, _) = Process::start(&mut fake(&format!("echo ready fake; read line; {answer}"))).unwrap();
            process.ask("mpsc_1", 1).unwrap_err().to_string()
        };
        assert_eq!(error("echo error too many files"), "the program in Go says: too many files");
        assert_eq!(error("echo 81000"), "the program in Go answered `81000`");
        assert_eq!(error("echo -1 2000"), "the program in Go answered `-1 2000`");
        assert_eq!(error("exit"), "the program in Go has ended");
    }

    #[test]
    fn a_program_that_is_not_there_or_is_another_one_is_an_error() {
        let error = |mut program| Process::start(&mut program).unwrap_err().to_string();
        assert_eq!(error(fake("echo hello")), "the program in Go answered `hello`");
        assert_eq!(error(fake("exit 3")), "the program in Go has ended");
        let missing = error(Command::new("/nowhere/gmp-benches-go"));
        assert!(missing.starts_with("/nowhere/gmp-benches-go can't be started: "), "{missing}");
    }

    #[test]
    fn a_command_that_is_missing_or_fails_is_named() {
        let error = |go| build(go).unwrap_err().to_string();
        assert_eq!(error("go-that-is-not-there"), "there is no command `go-that-is-not-there`");
        assert!(error("false").starts_with("`false build` failed (exit status: 1)"), "{}", error("false"));
    }
}
