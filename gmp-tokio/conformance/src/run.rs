//! Runs the tests, each in a process of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use gmp_conformance::single::{self, Outcome};

use crate::compile::Binary;
use crate::exceptions::{Exceptions, Expect};
use crate::options::Options;

/// How the tests ended, by name. A test that ran more than once is as bad as its worst run.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    /// Those that missed a limit of their own and were given another run.
    pub(crate) run_again: BTreeSet<String>,
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

    /// Notes how a test ended, if need be after more runs. One that hangs has missed more than a
    /// limit.
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
        let ignored = single::list(&binary.path, &["--ignored"])?;
        for test in single::list(&binary.path, &[])? {
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
    let mut command = Command::new(&binary.path);
    command.current_dir(&binary.folder).args(["--exact", test, "--test-threads", "1"]);
    single::run(&mut command, timeout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Outcome {
        Outcome::Failed(String::new())
    }

    /// How a test ends that failed and would then end as `later`, and how many of these runs it was
    /// given.
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
