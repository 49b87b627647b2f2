//! One test, in a process of its own.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How a test ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// With what it printed.
    Failed(String),
    /// It was ended, because it took too long.
    TimedOut,
    /// Marked as ignored by its authors.
    Ignored,
    /// Listed as not to be run.
    NotRun,
}

impl Outcome {
    /// Whether the test was run and did not pass.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed(_) | Outcome::TimedOut)
    }
}

/// The names of a binary's tests; `flags` are libtest's, for a choice of them.
///
/// # Errors
///
/// If the binary can't be started.
pub fn list(binary: &Path, flags: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(binary)
        .args(["--list", "--format", "terse"])
        .args(flags)
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs a command that passes if it exits with success, and ends it and its children after
/// `timeout`.
pub fn run(command: &mut Command, timeout: Duration) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: a test's own children go with it, and signals to the group stay there.
    let mut child = match command.process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    let readers = [drain(child.stdout.take()), drain(child.stderr.take())];
    let passed = wait(&mut child, timeout);
    let Some(passed) = passed else {
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = child.wait();
        return Outcome::TimedOut;
    };
    if passed {
        return Outcome::Passed;
    }
    let printed = readers.into_iter().map(|reader| reader.join().unwrap_or_default()).collect();
    Outcome::Failed(printed)
}

/// Reads all that a child prints, so that it never waits for us. Not joined unless the child has
/// failed: a grandchild may keep the pipe open.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut printed = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut printed);
        }
        String::from_utf8_lossy(&printed).into_owned()
    })
}

/// Whether the child has succeeded; `None`: it has not ended in time.
fn wait(child: &mut Child, timeout: Duration) -> Option<bool> {
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    while begin.elapsed() < timeout {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) => thread::sleep(pause),
            Err(_) => return Some(false),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    None
}
