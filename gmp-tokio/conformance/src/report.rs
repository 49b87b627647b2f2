//! What is printed at the end, and whether it is good.

use crate::exceptions::{Exceptions, Expect};
use crate::options::Options;
use crate::run::{Outcome, Results};

/// Prints the summary. Returns whether every test did what it should.
pub(crate) fn print(results: &Results, exceptions: &Exceptions, options: &Options) -> bool {
    let mut complaints = Vec::new();
    for (name, outcome) in &results.outcomes {
        match (outcome, exceptions.expect(name)) {
            (Outcome::Failed(printed), None) => {
                println!("---- {name} ----\n{}\n", printed.trim());
                complaints.push(format!("failed: {name}"));
            }
            (Outcome::TimedOut, None) => {
                complaints.push(format!("timed out after {} s: {name}", options.timeout.as_secs()));
            }
            (Outcome::Passed, Some(Expect::Failure)) => complaints.push(format!("listed, but passes: {name}")),
            _ => {}
        }
    }
    if !options.is_partial() {
        let unknown = exceptions.test.iter().filter(|exception| !results.outcomes.contains_key(&exception.name));
        complaints.extend(unknown.map(|exception| format!("listed, but there is no such test: {}", exception.name)));
    }
    complaints.iter().for_each(|complaint| println!("{complaint}"));
    summary(results, exceptions);
    complaints.is_empty()
}

fn summary(results: &Results, exceptions: &Exceptions) {
    let count = |is: fn(&Outcome) -> bool| results.outcomes.values().filter(|outcome| is(outcome)).count();
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let failed = count(Outcome::is_failure);
    let ignored = count(|outcome| matches!(outcome, Outcome::Ignored));
    let listed = results.outcomes.keys().filter(|name| exceptions.expect(name).is_some()).count();
    println!(
        "{} run, {passed} passed, {failed} failed, {listed} listed, {ignored} ignored by tokio itself, {} files not compiled",
        passed + failed,
        exceptions.files().count()
    );
}
