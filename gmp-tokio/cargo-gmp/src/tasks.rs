//! `cargo gmp tasks PID` and `cargo gmp blocked PID`: print the tasks of a running program, and what has
//! held its threads.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Pid;

use crate::escaped::escaped;
use crate::growth;
use crate::question::ask;
use crate::usage::usage;

/// What follows an answer.
pub(crate) const END: u8 = 0;

pub(crate) const CUT_OFF: &str =
    "the answer is cut off: the program has ended, or has waited for this command for too long";

/// The last letters of the name of a process that asks for something other than text about tasks.
const JSON: &str = "j";
const LINES: &str = "l";
const BLOCKED: &str = "b";

const TASKS: &str = "tasks [--json | --lines | --every SECONDS] PID";

pub(crate) fn tasks(arguments: &[OsString]) -> Result<ExitCode> {
    let (form, processes) = match arguments {
        [option, rest @ ..] if option == "--json" => (JSON, rest),
        [option, rest @ ..] if option == "--lines" => (LINES, rest),
        [option, seconds, rest @ ..] if option == "--every" => {
            let process = parse(rest, TASKS)?;
            return growth::print(interval(seconds)?, || answer(process, JSON)).map(|()| ExitCode::SUCCESS);
        }
        _ => ("", arguments),
    };
    print_answer(parse(processes, TASKS)?, form)
}

pub(crate) fn blocked(arguments: &[OsString]) -> Result<ExitCode> {
    print_answer(parse(arguments, "blocked PID")?, BLOCKED)
}

/// # Errors
///
/// This is not one number of a process.
pub(crate) fn parse(processes: &[OsString], command: &str) -> Result<Pid> {
    let [process] = processes else { return Err(usage(format!("usage: cargo gmp {command}"))) };
    let number = process.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    let invalid = || usage(format!("{process:?} is not a process id; usage: cargo gmp {command}"));
    number.and_then(Pid::from_raw).ok_or_else(invalid)
}

fn interval(seconds: &OsString) -> Result<Duration> {
    let number = seconds.to_str().and_then(|text| text.parse().ok()).filter(|number| (1..=3600).contains(number));
    let invalid = || usage(format!("{seconds:?} is no time; allowed are 1 to 3600 seconds; usage: cargo gmp {TASKS}"));
    number.map(Duration::from_secs).ok_or_else(invalid)
}

fn print_answer(process: Pid, form: &str) -> Result<ExitCode> {
    let answer = answer(process, form)?;
    ensure!(!printed(&answer.text)? || answer.is_whole, CUT_OFF);
    Ok(ExitCode::SUCCESS)
}

/// `false`: the reader has seen enough, which is no error.
pub(crate) fn printed(text: &str) -> Result<bool> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        printed => printed.context("can't print the answer").map(|()| true),
    }
}

/// What a program has answered.
pub(crate) struct Answer {
    pub(crate) text: String,
    is_whole: bool,
}

fn answer(process: Pid, form: &str) -> Result<Answer> {
    let mut answering = ask(process, form)?;
    // The program gives up an asker that does not read, as this one while a pager shows a page.
    let mut tasks = Vec::new();
    answering.read_until(END, &mut tasks).context("can't read the answer")?;
    let is_whole = tasks.pop_if(|last| *last == END).is_some();
    Ok(Answer { text: printable(&tasks), is_whole })
}

/// The program may be another one than it says it is.
fn printable(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).lines().map(|line| escaped(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_a_number() {
        let parse = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(OsString::from).collect();
            parse(&words, TASKS)
        };
        assert_eq!(parse("17").unwrap(), Pid::from_raw(17).unwrap());
        for line in ["", "1 2", "x", "0", "-1", "--jsn"] {
            assert!(parse(line).unwrap_err().to_string().contains(&format!("usage: cargo gmp {TASKS}")), "{line}");
        }
    }

    #[test]
    fn an_answer_has_lines_and_no_escape_sequences() {
        assert_eq!(printable("1 task\n  Größe \u{1b}[31m\n".as_bytes()), "1 task\n  Größe \\u{1b}[31m\n");
    }
}
