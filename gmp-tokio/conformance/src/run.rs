//! Runs the tests, each in its own process.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use gmp_conformance::single::{self, Outcome};

use crate::compile::Binary;
use crate::exceptions::{Exceptions, Expect};
use crate::options::Options;
use crate::without_cfg;

/// The outcomes of the tests, by name. A test that ran more than once has its worst outcome.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) outcomes: BTreeMap<String, Outcome>,
    /// The tests that missed a time limit of their own and ran again.
    pub(crate) run_again: BTreeSet<String>,
}

/// The number of attempts that a test gets to keep its own time limit.
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

    /// Records a test's outcome, after more runs if necessary. A test that hangs does not run
    /// again, because it has missed more than its own time limit.
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
    let (done_before, mut left_out) = (without_cfg::read(options)?, 0);
    for binary in binaries {
        let ignored = single::list(&binary.path, &["--ignored"])?;
        for test in single::list(&binary.path, &[])? {
            let name = format!("{}{test}", binary.prefix);
            if !name.contains(&options.filter) {
                continue;
            }
            if done_before.contains(&name) {
                left_out += 1;
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
    if left_out > 0 {
        println!("{left_out} tests are left out: they have run without the cfg");
    }
    queue.reverse();
    // These tests run after all others, because the other tests are the load that makes them miss
    // their limits.
    for (Queued { binary, test, name }, outcome) in run_queue(queue, options) {
        let expect = exceptions.expect(&name);
        results.note(name, outcome, expect, || run_one(binary, &test, options.timeout));
    }
    without_cfg::note(options, results.outcomes.keys().map(String::as_str))?;
    Ok(results)
}

/// A test that is about to run.
struct Queued<'a> {
    binary: &'a Binary,
    /// The test's name in the binary.
    test: String,
    /// The test's name in this program.
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

    /// Records a test that first ends as `first` and then as `later`. Returns the results, and the
    /// number of further runs.
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
