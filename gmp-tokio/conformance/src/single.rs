//! Runs one test in its own process.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// The outcome of a test.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The test succeeded.
    Passed,
    /// The test failed. Contains the test's output.
    Failed(String),
    /// The test took too long and was ended.
    TimedOut,
    /// The test's authors marked it as ignored.
    Ignored,
    /// The test is listed as one that is not run.
    NotRun,
}

impl Outcome {
    /// Whether the test was run and did not pass.
    pub fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed(_) | Outcome::TimedOut)
    }
}

/// Returns the names of a binary's tests. `flags` are options of libtest's that select some of
/// them.
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

/// Runs a command and returns its outcome: the command passes if it exits with success. After
/// `timeout`, ends the command and its children.
pub fn run(command: &mut Command, timeout: Duration) -> Outcome {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The test gets its own process group: its children are ended with it, and signals to the group
    // don't reach other processes.
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

/// Reads all output of a child, so that the child never waits for this process. The reader is
/// joined only if the child has failed, because a grandchild may keep the pipe open.
fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut printed = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut printed);
        }
        String::from_utf8_lossy(&printed).into_owned()
    })
}

/// Whether the child has succeeded. `None` if the child has not ended in time.
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
