//! `cargo gmp tasks PID`: prints the tasks of a running program.
//!
//! The program must have been started with `GMP_DEBUG=sigquit=1`, as `cargo gmp run` does on a
//! terminal. Its thread "gmp-dump" shows that it was: without that thread, the signal would end the
//! program, and is not sent.
//!
//! This process opens a pipe, says in its name where the pipe is, and sends SIGQUIT. The program
//! learns with the signal which process has sent it, reads the name, and writes into
//! `/proc/PID/fd/N`. So nothing is left behind anywhere, and it works across containers that see
//! each other's processes.

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::escaped::escaped;

/// The first line of an answer.
const GREETING: &str = "gmp 1\n";
/// How long the program may take to begin its answer.
const PATIENCE: Duration = Duration::from_secs(30);

const USAGE: &str = "usage: cargo gmp tasks [--json] PID";

pub(crate) fn tasks(arguments: &[OsString]) -> Result<ExitCode> {
    let (process, is_json) = parse(arguments)?;
    let program = Program::find(process)?;
    program.check()?;
    let (reader, writer) = io::pipe().context("no pipe")?;
    let name = format!("gmp-tasks:{}{}", writer.as_raw_fd(), if is_json { "j" } else { "" });
    fs::write("/proc/self/comm", name).context("can't say where the answer goes")?;
    program.ask()?;
    let (sender, answer) = mpsc::channel();
    let reading = thread::spawn(move || print(reader, &sender));
    let begun = answer.recv_timeout(PATIENCE);
    // From here on only the program can write, and its end is seen.
    drop(writer);
    ensure!(begun.is_ok(), "process {process} does not answer; it may print its tasks itself, later");
    reading.join().expect("printing does not panic")?;
    Ok(ExitCode::SUCCESS)
}

fn parse(arguments: &[OsString]) -> Result<(Pid, bool)> {
    let (json, others): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| *argument == "--json");
    let [process] = others[..] else { bail!("{USAGE}") };
    let number = process.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
    let Some(process) = number.and_then(Pid::from_raw) else { bail!("{process:?} is not a process id; {USAGE}") };
    Ok((process, !json.is_empty()))
}

/// A process that stays the same one: its number may be given to another process once it has ended.
struct Program {
    process: Pid,
    /// `None`: the system has no descriptors of processes, as Linux before 5.3.
    descriptor: Option<OwnedFd>,
}

impl Program {
    fn find(process: Pid) -> Result<Program> {
        let descriptor = match pidfd::open(process) {
            Err(Errno::NOSYS) => None,
            opened => Some(opened.with_context(|| format!("no process {process}"))?),
        };
        Ok(Program { process, descriptor })
    }

    /// The signal ends a program that does not expect it.
    fn check(&self) -> Result<()> {
        let process = self.process;
        let threads = fs::read_dir(format!("/proc/{process}/task")).with_context(|| format!("no process {process}"))?;
        let names = threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        let answers = names.into_iter().any(|name| name == "gmp-dump\n");
        ensure!(answers, "process {process} does not answer: it has to be started with GMP_DEBUG=sigquit=1");
        Ok(())
    }

    /// Sends the signal to the process that was there when it was found.
    fn ask(&self) -> Result<()> {
        let asked = match &self.descriptor {
            Some(descriptor) => pidfd::send(descriptor, Signal::QUIT),
            None => kill_process(self.process, Signal::QUIT),
        };
        asked.with_context(|| format!("can't ask process {}", self.process))
    }
}

#[cfg(target_os = "linux")]
mod pidfd {
    use std::os::fd::OwnedFd;

    use rustix::io::Result;
    pub(super) use rustix::process::pidfd_send_signal as send;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    pub(super) fn open(process: Pid) -> Result<OwnedFd> {
        pidfd_open(process, PidfdFlags::empty())
    }
}

#[cfg(not(target_os = "linux"))]
mod pidfd {
    use std::os::fd::OwnedFd;

    use rustix::io::{Errno, Result};
    use rustix::process::{Pid, Signal};

    pub(super) fn open(_: Pid) -> Result<OwnedFd> {
        Err(Errno::NOSYS)
    }

    pub(super) fn send(_: &OwnedFd, _: Signal) -> Result<()> {
        Err(Errno::NOSYS)
    }
}

fn print(answer: PipeReader, begun: &mpsc::Sender<()>) -> Result<()> {
    let mut answer = BufReader::new(answer);
    let mut greeting = String::new();
    answer.read_line(&mut greeting)?;
    let _ = begun.send(());
    ensure!(greeting == GREETING, "the program's gmp is not of this version");
    // The program gives up an asker that does not read, as this one while a pager shows a page.
    let mut tasks = Vec::new();
    answer.read_to_end(&mut tasks).context("can't read the tasks")?;
    io::stdout().lock().write_all(printable(&tasks).as_bytes()).context("can't print the tasks")
}

/// The program may be another one than it says it is.
fn printable(answer: &[u8]) -> String {
    String::from_utf8_lossy(answer).lines().map(|line| escaped(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn parse(line: &str) -> Result<(Pid, bool)> {
        super::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_process_comes_before_or_after_the_option() {
        let process = Pid::from_raw(17).unwrap();
        assert_eq!(parse("17").unwrap(), (process, false));
        assert_eq!(parse("--json 17").unwrap(), (process, true));
        assert_eq!(parse("17 --json").unwrap(), (process, true));
        for line in ["", "1 2", "x", "0", "-1", "--jsn"] {
            assert!(parse(line).unwrap_err().to_string().contains("usage: cargo gmp tasks"), "{line}");
        }
    }

    #[test]
    fn an_answer_has_lines_and_no_escape_sequences() {
        assert_eq!(printable("1 task\n  Größe \u{1b}[31m\n".as_bytes()), "1 task\n  Größe \\u{1b}[31m\n");
    }

    fn sleeping() -> Child {
        Command::new("sleep").arg("1000").spawn().unwrap()
    }

    fn end(mut program: Child) {
        program.kill().unwrap();
        program.wait().unwrap();
    }

    /// A process with the number of one that has ended. `None`: only root may choose it, and others
    /// may be faster.
    fn successor(number: i32) -> Option<Child> {
        for _ in 0..100 {
            fs::write("/proc/sys/kernel/ns_last_pid", (number - 1).to_string()).ok()?;
            let program = sleeping();
            if program.id() as i32 == number {
                return Some(program);
            }
            end(program);
        }
        None
    }

    #[test]
    fn a_process_that_has_got_the_number_meanwhile_is_left_alone() {
        let first = sleeping();
        let process = Pid::from_child(&first);
        let program = Program::find(process).unwrap();
        end(first);
        let Some(mut second) = successor(process.as_raw_nonzero().get()) else { return };
        assert!(program.ask().is_err());
        // A signal would end it, soon.
        thread::sleep(Duration::from_millis(100));
        assert!(second.try_wait().unwrap().is_none(), "it goes on");
        end(second);
    }

    #[test]
    fn a_program_that_the_signal_would_end_is_left_alone() {
        let mut program = sleeping();
        let id = OsString::from(program.id().to_string());
        let error = tasks(&[id]).unwrap_err().to_string();
        assert!(error.ends_with("it has to be started with GMP_DEBUG=sigquit=1"), "{error}");
        assert!(program.try_wait().unwrap().is_none(), "it goes on");
        end(program);
    }
}
