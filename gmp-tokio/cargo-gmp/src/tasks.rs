//! `cargo gmp tasks PID` and `cargo gmp blocked PID`: print the tasks of a running program, and what has
//! held its threads.

use std::ffi::OsString;
use std::io::BufRead;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Pid;

use crate::arguments::value_of;
use crate::escaped::escaped;
use crate::growth;
use crate::printed::printed;
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

#[derive(Debug, PartialEq)]
enum Form {
    /// By its letter.
    Once(&'static str),
    Every(Duration),
}

pub(crate) fn tasks(arguments: &[OsString]) -> Result<ExitCode> {
    match form_and_process(arguments)? {
        (Form::Once(form), process) => print_answer(process, form),
        (Form::Every(time), process) => growth::print(time, || answer(process, JSON)).map(|()| ExitCode::SUCCESS),
    }
}

pub(crate) fn blocked(arguments: &[OsString]) -> Result<ExitCode> {
    print_answer(parse(arguments, "blocked PID")?, BLOCKED)
}

fn form_and_process(arguments: &[OsString]) -> Result<(Form, Pid)> {
    let (mut forms, mut processes) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if let Some(seconds) = value_of("--every", argument, || rest.as_slice().first()) {
            forms.push(Form::Every(interval(&seconds)?));
            rest.by_ref().take(usize::from(argument == "--every")).for_each(drop);
            continue;
        }
        match argument.to_str() {
            Some("--json") => forms.push(Form::Once(JSON)),
            Some("--lines") => forms.push(Form::Once(LINES)),
            Some("--every") => return Err(wrong("`--every` needs a number of seconds", TASKS)),
            _ => processes.push(argument.clone()),
        }
    }
    if forms.len() > 1 {
        return Err(wrong("--json, --lines and --every: take one of them", TASKS));
    }
    Ok((forms.pop().unwrap_or(Form::Once("")), parse(&processes, TASKS)?))
}

/// # Errors
///
/// This is not one number of a process.
pub(crate) fn parse(processes: &[OsString], command: &str) -> Result<Pid> {
    if let Some(option) = processes.iter().find(|argument| argument.as_encoded_bytes().starts_with(b"-")) {
        return Err(wrong(&format!("unknown option {option:?}"), command));
    }
    let process = match processes {
        [] => return Err(wrong("no process", command)),
        [process] => process,
        [_, more, ..] => return Err(wrong(&format!("{more:?} is one too many"), command)),
    };
    let number = process.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    number.and_then(Pid::from_raw).ok_or_else(|| wrong(&format!("{process:?} is not a process id"), command))
}

fn wrong(what: &str, command: &str) -> anyhow::Error {
    usage(format!("{what}; usage: cargo gmp {command}"))
}

fn interval(seconds: &OsString) -> Result<Duration> {
    let number = seconds.to_str().and_then(|text| text.parse().ok()).filter(|number| (1..=3600).contains(number));
    let invalid = || wrong(&format!("{seconds:?} is no time; allowed are 1 to 3600 seconds"), TASKS);
    number.map(Duration::from_secs).ok_or_else(invalid)
}

fn print_answer(process: Pid, form: &str) -> Result<ExitCode> {
    let answer = answer(process, form)?;
    ensure!(!printed(&answer.text)? || answer.is_whole, CUT_OFF);
    Ok(ExitCode::SUCCESS)
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

    fn given(line: &str) -> Result<(Form, Pid)> {
        form_and_process(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_stand_before_and_after_the_process() {
        for (line, form) in [
            ("17", Form::Once("")),
            ("--json 17", Form::Once(JSON)),
            ("17 --lines", Form::Once(LINES)),
            ("17 --every 2", Form::Every(Duration::from_secs(2))),
            ("--every=2 17", Form::Every(Duration::from_secs(2))),
        ] {
            assert_eq!(given(line).unwrap(), (form, Pid::from_raw(17).unwrap()), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, expected) in [
            ("", "no process"),
            ("1 2", "\"2\" is one too many"),
            ("x", "\"x\" is not a process id"),
            ("0", "\"0\" is not a process id"),
            ("--jsn 17", "unknown option \"--jsn\""),
            ("--json 17 --lines", "--json, --lines and --every: take one of them"),
            ("--every=0 17", "\"0\" is no time; allowed are 1 to 3600 seconds"),
            ("17 --every", "`--every` needs a number of seconds"),
        ] {
            let error = given(line).unwrap_err().to_string();
            assert_eq!(error, format!("{expected}; usage: cargo gmp {TASKS}"), "{line}");
        }
    }

    #[test]
    fn an_answer_has_lines_and_no_escape_sequences() {
        assert_eq!(printable("1 task\n  Größe \u{1b}[31m\n".as_bytes()), "1 task\n  Größe \\u{1b}[31m\n");
    }
}
