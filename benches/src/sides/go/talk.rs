//! The messages between the table and the program in `benches/go`, one per line; `main.go` has the
//! other end.
//!
//! The program greets with `ready VERSION NAME...`. A question is `NAME ROUNDS`, its answer
//! `TOTAL OPERATIONS` or `error TEXT`.

use std::io::{self, BufRead, Write};

/// Both directions.
#[derive(Debug)]
pub(super) struct Talk<R, W> {
    from: R,
    to: W,
}

/// The program's greeting.
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

impl<R: BufRead, W: Write> Talk<R, W> {
    pub(super) fn new(from: R, to: W) -> Self {
        Talk { from, to }
    }

    pub(super) fn greeting(&mut self) -> io::Result<Greeting> {
        let line = self.line()?;
        let mut words = line.split(' ').map(str::to_owned);
        match (words.next().as_deref(), words.next()) {
            (Some("ready"), Some(version)) => Ok(Greeting { version, workloads: words.collect() }),
            _ => Err(unexpected(&line)),
        }
    }

    pub(super) fn ask(&mut self, workload: &str, rounds: u32) -> io::Result<Answer> {
        // A single write: half a line must not wake the program.
        self.to.write_all(format!("{workload} {rounds}\n").as_bytes())?;
        self.to.flush()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(answers: &str) -> Talk<&[u8], Vec<u8>> {
        Talk::new(answers.as_bytes(), Vec::new())
    }

    #[test]
    fn the_greeting_names_the_version_and_the_workloads() {
        let greeting = talk("ready go1.19.8 mpsc_1 ring_500\n").greeting().unwrap();
        let workloads = ["mpsc_1", "ring_500"].map(str::to_owned).to_vec();
        assert_eq!(greeting, Greeting { version: "go1.19.8".to_owned(), workloads });
    }

    #[test]
    fn a_question_is_a_line_and_so_is_its_answer() {
        let mut talk = talk("81000 2000\n90000 2000\n");
        assert_eq!(talk.ask("mpsc_1", 2).unwrap(), Answer { total: 81_000, operations: 2_000 });
        assert_eq!(talk.ask("mpsc_1", 2).unwrap(), Answer { total: 90_000, operations: 2_000 });
        assert_eq!(talk.to, b"mpsc_1 2\nmpsc_1 2\n");
    }

    #[test]
    fn an_error_is_passed_on_and_nonsense_is_quoted() {
        let error = |answers| talk(answers).ask("mpsc_1", 1).unwrap_err().to_string();
        assert_eq!(error("error too many files\n"), "the program in Go says: too many files");
        assert_eq!(error("81000\n"), "the program in Go answered `81000`");
        assert_eq!(error("-1 2000\n"), "the program in Go answered `-1 2000`");
        assert_eq!(error(""), "the program in Go has ended");
    }

    #[test]
    fn a_program_that_does_not_greet_is_not_the_one() {
        assert_eq!(talk("hello\n").greeting().unwrap_err().to_string(), "the program in Go answered `hello`");
    }
}
