//! A read that never ends: when does its timeout fire, and does the program still exit?
//!
//! The thread that reads a FIFO sits in the kernel until somebody writes. A runtime that waits for that thread when it
//! ends never does, so each reading is a process of its own, which is killed if it has to be.

mod args;

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use gmp_benches::cli;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio, in_task};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::args::Options;

/// How long a task waits for the FIFO.
const TIMEOUT: Duration = Duration::from_millis(100);

/// The longest that this may take on gmp.
const LIMIT: Duration = Duration::from_millis(105);

/// The longest that the exit may take on gmp, ending the process included.
const EXIT_LIMIT: Duration = Duration::from_millis(50);

/// A process that hasn't exited after so long won't.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    let result = match &options.read {
        Some((name, path)) => read_on(name, path).map(|()| true),
        None => run(&options),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fifo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether gmp was in time.
fn run(options: &Options) -> io::Result<bool> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    println!(
        "timeout(100 ms, read) of a FIFO that nobody writes to, and exit; the worst of {} processes\n",
        options.reps
    );
    println!("{:<8}{:>16}{:>16}", "on", "timeout took", "exit took");
    let mut in_time = true;
    for name in [Gmp::NAME, Tokio::NAME] {
        let readings = (0..options.reps).map(|_| Reading::take(name, &path)).collect::<io::Result<Vec<_>>>()?;
        let worst = Reading::worst(&readings);
        println!("{name:<8}{:>16}{:>16}", millis(Some(worst.timeout)), millis(worst.exit));
        in_time &= name != Gmp::NAME || worst.is_in_time();
    }
    println!("\nlimit on gmp: {} and {}", millis(Some(LIMIT)), millis(Some(EXIT_LIMIT)));
    Ok(in_time)
}

/// What one process showed.
#[derive(Debug, Clone, Copy)]
struct Reading {
    timeout: Duration,
    /// From then until the process had ended, if it did.
    exit: Option<Duration>,
}

impl Reading {
    fn take(name: &str, path: &Path) -> io::Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .args(["--on", name, "--path"])
            .arg(path)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe was asked for")).read_line(&mut line)?;
        let exit = exit_of(&mut child)?;
        let micros = line.trim().parse().map_err(|_| io::Error::other(format!("reading on {name} failed")))?;
        Ok(Reading { timeout: Duration::from_micros(micros), exit })
    }

    /// The longest of each, over at least one.
    fn worst(readings: &[Reading]) -> Reading {
        let later = |one: Reading, other: &Reading| Reading {
            timeout: one.timeout.max(other.timeout),
            exit: one.exit.zip(other.exit).map(|(one, other)| one.max(other)),
        };
        readings[1..].iter().fold(readings[0], later)
    }

    fn is_in_time(&self) -> bool {
        self.timeout <= LIMIT && self.exit.is_some_and(|exit| exit <= EXIT_LIMIT)
    }
}

/// Waits for the end of `child`, and kills it if there is none.
fn exit_of(child: &mut Child) -> io::Result<Option<Duration>> {
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_micros(200));
    }
    Ok(Some(start.elapsed()))
}

fn millis(duration: Option<Duration>) -> String {
    duration.map_or_else(|| "never, killed".to_owned(), |it| format!("{:.1} ms", it.as_secs_f64() * 1000.0))
}

/// What the child process does: prints the microseconds that the timeout took, and ends as any program does.
fn read_on(name: &str, path: &Path) -> io::Result<()> {
    match name {
        Gmp::NAME => read::<Gmp>(path),
        Tokio::NAME => read::<Tokio>(path),
        _ => unreachable!("the arguments were checked"),
    }
}

fn read<R: Io>(path: &Path) -> io::Result<()> {
    let rt = R::new(2)?;
    let path = path.to_owned();
    let took = in_task(&rt, async move {
        let start = Instant::now();
        let result = R::timeout(TIMEOUT, R::read(&path)).await;
        result.is_err().then(|| start.elapsed())
    });
    let took = took.ok_or_else(|| io::Error::other("a FIFO that nobody writes to was read"))?;
    println!("{}", took.as_micros());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_that_never_exits_is_the_worst() {
        let reading = |timeout, exit: Option<u64>| Reading {
            timeout: Duration::from_millis(timeout),
            exit: exit.map(Duration::from_millis),
        };
        let worst = Reading::worst(&[reading(101, Some(3)), reading(100, None), reading(102, Some(1))]);
        assert_eq!((worst.timeout.as_millis(), worst.exit), (102, None));
        assert!(!worst.is_in_time());
        assert!(Reading::worst(&[reading(101, Some(3)), reading(100, Some(5))]).is_in_time());
    }
}
