//! A question to a running process, and the beginning of its answer.
//!
//! This process opens a pipe, says in its name where the pipe is and what it wants, and sends SIGURG
//! (`asked`). The program learns with the signal which process has sent it, reads the name, and writes
//! into `/proc/PID/fd/N`. So nothing is left behind anywhere, and it works across containers that see
//! each other's processes.

use std::fs;
use std::io::{self, BufRead, BufReader, PipeReader};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::Pid;

use crate::asked::Asked;

/// The first line of an answer.
const GREETING: &str = "gmp 1\n";
/// The system keeps so many bytes of a name.
const LONGEST_NAME: usize = 15;
/// How long the program may take to begin its answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// After so long this command says that it waits.
const SILENCE: Duration = Duration::from_secs(1);
/// A thread that does not sleep leaves the question unanswered, so it is asked again, soon at first.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(200)];

/// What becomes readable of an answer after its first line.
pub(crate) type Answering = BufReader<PipeReader>;

/// Asks, and waits until the answer begins. `form`: the last letters of the name, empty for text about
/// tasks.
///
/// # Errors
///
/// Fails if the process can't be asked, or does not answer.
pub(crate) fn ask(process: Pid, form: &str) -> Result<Answering> {
    let asked = Asked::find(process)?;
    let (reader, writer) = io::pipe().context("no pipe")?;
    let name = format!("gmp-tasks:{}{form}", writer.as_raw_fd());
    ensure!(name.len() <= LONGEST_NAME, "too many descriptors of other programs are open in this process");
    fs::write("/proc/self/comm", name).context("can't say where the answer goes")?;
    let (sender, begun) = mpsc::channel();
    // If nothing comes, the thread ends with this command.
    thread::spawn(move || sender.send(greeted(reader)));
    let answering = repeat(&asked, &begun).with_context(|| format!("process {process} does not answer"))?;
    // From here on only the program can write, and its end is seen.
    drop(writer);
    answering
}

/// Asks until the answer begins.
fn repeat(asked: &Asked, begun: &Receiver<Result<Answering>>) -> Result<Result<Answering>> {
    let start = Instant::now();
    let [mut pause, longest] = PAUSES;
    let mut has_said = false;
    while start.elapsed() < PATIENCE {
        for thread in asked.threads()? {
            asked.ask(thread)?;
            if let Ok(answering) = begun.recv_timeout(pause) {
                return Ok(answering);
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
    bail!(
        "a thread of gmp's that sleeps answers, and its threads are busy or stuck, or its gmp is older than this \
         command; started with GMP_DEBUG=sigquit=1 it has a thread that answers at any time"
    )
}

fn greeted(answer: PipeReader) -> Result<Answering> {
    let mut answer = BufReader::new(answer);
    let mut greeting = String::new();
    answer.read_line(&mut greeting)?;
    ensure!(greeting == GREETING, "the program's gmp is not of this version");
    Ok(answer)
}
