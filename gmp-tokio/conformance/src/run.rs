//! Runs the tests, each in a process of its own.

use crate::compile::Binary;
use crate::exceptions::{Exceptions, Expect};
use crate::options::Options;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How the tests ended, by name. A test that ran more than once is as bad as its worst run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    /// Those that missed a limit of their own and were given another run.
    pub(crate) run_again: BTreeSet<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Passed,
    /// With what it printed.
    Failed(String),
    TimedOut,
    /// Marked as ignored by tokio.
    Ignored,
    /// Listed as not to be run.
    NotRun,
}

impl Outcome {
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Outcome::Failed(_) | Outcome::TimedOut)
    }
}

/// How often a test runs at most until it keeps its own limit.
const RUNS: usize = 3;

impl Results {
    pub(crate) fn extend(&mut self, others: Results) {
        for (name, outcome) in others.outcomes {
            let known = self.outcomes.entry(name).or_insert_with(|| outcome.clone());
            if outcome.is_failure() {
                *known = outcome;
            }
        }
        self.run_again.extend(others.run_again);
    }

    /// Notes how a test ended, if need be after more runs. One that hangs has missed more than a limit.
    fn note(&mut self, name: String, first: Outcome, expect: Option<Expect>, mut run: impl FnMut() -> Outcome) {
        let mut outcome = first;
        for _ in 1..RUNS {
            if expect == Some(Expect::Limited) && matches!(outcome, Outcome::Failed(_)) {
                println!("again: {name}");
                self.run_again.insert(name.clone());
                outcome = run();
            }
        }
        self.outcomes.insert(name, outcome);
    }
}

pub(crate) fn run(binaries: &[Binary], exceptions: &Exceptions, options: &Options) -> Result<Results, String> {
    let mut queue = Vec::new();
    let mut results = Results::default();
    for binary in binaries {
        let ignored = list(binary, &["--ignored"])?;
        for test in list(binary, &[])? {
            let name = format!("{}{test}", binary.prefix);
            if !name.contains(&options.filter) {
                continue;
            }
            if ignored.contains(&test) {
                results.outcomes.insert(name, Outcome::Ignored);
            } else if exceptions.expect(&name) == Some(Expect::NotRun) {
                results.outcomes.insert(name, Outcome::NotRun);
            } else {
                queue.push(Queued { binary, test, name });
            }
        }
    }
    queue.reverse();
    // Only now that the others are done: they are what a machine is busy with.
    for (Queued { binary, test, name }, outcome) in run_queue(queue, options) {
        let expect = exceptions.expect(&name);
        results.note(name, outcome, expect, || run_one(binary, &test, options.timeout));
    }
    Ok(results)
}

/// A test that is going to be run.
struct Queued<'a> {
    binary: &'a Binary,
    /// As the binary calls it.
    test: String,
    /// As it is called here.
    name: String,
}

/// The names of a binary's tests.
fn list(binary: &Binary, flags: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(&binary.path)
        .args(["--list", "--format", "terse"])
        .args(flags)
        .output()
        .map_err(|error| format!("{}: {error}", binary.group))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

fn run_queue<'a>(queue: Vec<Queued<'a>>, options: &Options) -> Vec<(Queued<'a>, Outcome)> {
    let (queue, done) = (Mutex::new(queue), Mutex::new(Vec::new()));
    let work = || {
        while let Some(next) = { queue.lock().expect("no panic under this lock").pop() } {
            let outcome = run_one(next.binary, &next.test, options.timeout);
            if outcome.is_failure() {
                println!("failed: {}", next.name);
            }
            done.lock().expect("no panic under this lock").push((next, outcome));
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(work);
        }
    });
    done.into_inner().expect("no panic under this lock")
}

fn run_one(binary: &Binary, test: &str, timeout: Duration) -> Outcome {
    let spawned = Command::new(&binary.path)
        .current_dir(&binary.folder)
        .args(["--exact", test, "--test-threads", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own: a test's own children go with it, and signals to the group stay there.
        .process_group(0)
        .spawn();
    let mut child = match spawned {
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

/// Reads all that a child prints, so that it never waits for us. Not joined unless the child has failed: a grandchild
/// may keep the pipe open.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Outcome {
        Outcome::Failed(String::new())
    }

    /// How a test ends that failed and would then end as `later`, and how many of these runs it was given.
    fn note(first: Outcome, expect: Option<Expect>, later: [Outcome; 3]) -> (Results, usize) {
        let (mut results, mut runs) = (Results::default(), 0);
        results.note("a".to_owned(), first, expect, || {
            runs += 1;
            later[runs - 1].clone()
        });
        (results, runs)
    }

    fn passes(results: &Results) -> bool {
        matches!(results.outcomes["a"], Outcome::Passed)
    }

    #[test]
    fn a_test_with_a_limit_runs_until_it_keeps_it() {
        let (results, runs) = note(failed(), Some(Expect::Limited), [failed(), Outcome::Passed, failed()]);
        assert!(passes(&results) && runs == 2 && results.run_again.contains("a"), "{results:?}");
    }

    #[test]
    fn a_test_that_fails_three_times_has_failed() {
        let (results, runs) = note(failed(), Some(Expect::Limited), [failed(), failed(), Outcome::Passed]);
        assert!(!passes(&results) && runs == 2, "{results:?}");
    }

    #[test]
    fn nothing_else_runs_again() {
        for expect in [None, Some(Expect::Failure), Some(Expect::Either)] {
            let (results, runs) = note(failed(), expect, [const { Outcome::Passed }; 3]);
            assert!(!passes(&results) && runs == 0 && results.run_again.is_empty(), "{expect:?}");
        }
        for first in [Outcome::Passed, Outcome::TimedOut] {
            assert_eq!(note(first, Some(Expect::Limited), [const { Outcome::Passed }; 3]).1, 0);
        }
    }
}
