//! `cargo gmp tasks PID` and `cargo gmp blocked PID`: print the tasks of a running program, and what has
//! held its threads.
//!
//! This process opens a pipe, says in its name where the pipe is, and sends SIGURG (`asked`). The program
//! learns with the signal which process has sent it, reads the name, and writes into
//! `/proc/PID/fd/N`. So nothing is left behind anywhere, and it works across containers that see
//! each other's processes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::fd::AsRawFd;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::Pid;

use crate::asked::Asked;
use crate::escaped::escaped;
use crate::growth;
use crate::usage::usage;

/// The first line of an answer.
const GREETING: &str = "gmp 1\n";
/// What follows an answer.
const END: u8 = 0;
/// How long the program may take to begin its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// After so long this command says that it waits.
const SILENCE: Duration = Duration::from_secs(1);
/// A thread that does not sleep leaves the question unanswered, so it is asked again, soon at first.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(200)];

const CUT_OFF: &str = "the answer is cut off: the program has ended, or has waited for this command for too long";

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

fn parse(processes: &[OsString], command: &str) -> Result<Pid> {
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
    let asked = Asked::find(process)?;
    let (reader, writer) = io::pipe().context("no pipe")?;
    let name = format!("gmp-tasks:{}{form}", writer.as_raw_fd());
    fs::write("/proc/self/comm", name).context("can't say where the answer goes")?;
    let (sender, begun) = mpsc::channel();
    let reading = thread::spawn(move || read(reader, &sender));
    ask(&asked, &begun).with_context(|| format!("process {process} does not answer"))?;
    // From here on only the program can write, and its end is seen.
    drop(writer);
    reading.join().expect("reading does not panic")
}

/// Asks until the answer begins.
fn ask(asked: &Asked, begun: &Receiver<()>) -> Result<()> {
    let start = Instant::now();
    let [mut pause, longest] = PAUSES;
    let mut has_said = false;
    while start.elapsed() < PATIENCE {
        for thread in asked.threads()? {
            asked.ask(thread)?;
            if begun.recv_timeout(pause).is_ok() {
                return Ok(());
            }
        }
        pause = (pause * 2).min(longest);
        if start.elapsed() > SILENCE && !has_said {
            has_said = true;
            let why = if asked.is_stopped() { ", which is stopped" } else { "" };
            eprintln!("waiting for an answer of the process{why} ...");
        }
    }
    ensure!(!asked.is_stopped(), "it is stopped");
    anyhow::bail!(
        "a thread of gmp's that sleeps answers, and its threads are busy or stuck; started with GMP_DEBUG=sigquit=1 it \
         has a thread that answers at any time"
    )
}

fn read(answer: PipeReader, begun: &mpsc::Sender<()>) -> Result<Answer> {
    let mut answer = BufReader::new(answer);
    let mut greeting = String::new();
    answer.read_line(&mut greeting)?;
    let _ = begun.send(());
    ensure!(greeting == GREETING, "the program's gmp is not of this version");
    // The program gives up an asker that does not read, as this one while a pager shows a page.
    let mut tasks = Vec::new();
    answer.read_until(END, &mut tasks).context("can't read the answer")?;
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
