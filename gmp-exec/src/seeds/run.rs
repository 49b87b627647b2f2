//! One run of a test: this program, started again.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use crate::sys::addresses;

/// The real time that a run may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How many times a run that takes longer is asked to end. To name its line, the run reads its debugging
/// information, which takes a while.
const ASKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Run {
    /// `None`: it took too long, and was ended.
    status: Option<ExitStatus>,
    /// Standard output and standard error.
    pub(super) output: String,
}

impl Run {
    pub(super) fn of(test: &str, seed: u64) -> io::Result<Run> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(arguments(test)).env("GMP_SEED", format!("{seed:x}"));
        Run::start(command, LIMIT)
    }

    fn start(mut command: Command, limit: Duration) -> io::Result<Run> {
        let mut file = File::from(memfd_create("output", MemfdFlags::CLOEXEC)?);
        command.stdout(file.try_clone()?).stderr(file.try_clone()?);
        let status = wait(&mut addresses::fixed(|| command.spawn())?, limit)?;
        let mut output = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut output)?;
        Ok(Run { status, output: String::from_utf8_lossy(&output).into_owned() })
    }

    /// Why it has not passed. A run that does not say the line `begun` has run another test, or none.
    pub(super) fn problem(&self, begun: &str) -> Option<String> {
        match self.status {
            None => Some(format!("it hangs: ended after {} s of real time", LIMIT.as_secs())),
            Some(status) if !status.success() => Some(status.to_string()),
            Some(_) if !self.output.contains(begun) => {
                Some("the program does not run this test by its name".to_owned())
            }
            Some(_) => None,
        }
    }
}

/// The command that makes this run again.
pub(super) fn again(test: &str, seed: u64) -> String {
    format!("GMP_SEED={seed:x} setarch -R cargo test -- {}", arguments(test).join(" "))
}

fn arguments(test: &str) -> [&str; 4] {
    [test, "--exact", "--nocapture", "--include-ignored"]
}

/// Waits for the end of the child, and ends the child after that time. `None`: that was so.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let has_ended = |limit: Duration| {
        let limit = Timespec::try_from(limit).expect("a minute at most");
        rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit))).map(|ended| ended > 0)
    };
    let is_in_time = has_ended(limit)?;
    let asks = if is_in_time { 0 } else { ASKS };
    for _ in 0..asks {
        // The engine ends the run with the line at which it spins (`seeded/time_up`).
        kill_process(Pid::from_child(child), Signal::VTALARM)?;
        if has_ended(PAUSE)? {
            break;
        }
    }
    // Of no use to a process that has ended.
    child.kill()?;
    let status = child.wait()?;
    Ok(is_in_time.then_some(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Run::start(command, limit).unwrap()
    }

    #[test]
    fn a_run_says_why_it_has_not_passed() {
        let problem = |script| run(script, LIMIT).problem("begun\n");
        assert_eq!(problem("echo begun >&2"), None);
        assert_eq!(problem("echo begun; exit 3").unwrap(), "exit status: 3");
        assert_eq!(problem("true").unwrap(), "the program does not run this test by its name");
        assert_eq!(run("echo a; echo b >&2", LIMIT).output, "a\nb\n");
    }

    #[test]
    fn a_run_that_hangs_is_ended() {
        let run = run("echo begun; exec sleep 1000", Duration::from_millis(100));
        assert_eq!(run.problem("begun\n").unwrap(), "it hangs: ended after 60 s of real time");
    }
}
