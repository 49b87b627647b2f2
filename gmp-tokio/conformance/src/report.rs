//! Prints the summary, and decides whether the run succeeded.

use gmp_conformance::single::Outcome;

use crate::exceptions::{Exceptions, Expect};
use crate::options::Options;
use crate::round::Round;
use crate::run::Results;

/// Prints the summary. Returns whether every test behaved as expected.
pub(crate) fn print(results: &Results, exceptions: &Exceptions, options: &Options) -> bool {
    let mut complaints = Vec::new();
    for (name, outcome) in &results.outcomes {
        match (outcome, exceptions.expect(name)) {
            (Outcome::Failed(_), Some(Expect::Limited)) if options.slow => println!("too slow: {name}"),
            (Outcome::Failed(printed), None | Some(Expect::Limited)) => {
                println!("---- {name} ----\n{}\n", printed.trim());
                complaints.push(format!("failed: {name}"));
            }
            (Outcome::TimedOut, None | Some(Expect::Limited)) => {
                complaints.push(format!("timed out after {} s: {name}", options.timeout.as_secs()));
            }
            (Outcome::Passed, Some(Expect::Failure)) => complaints.push(format!("listed, but passes: {name}")),
            _ => {}
        }
    }
    if !options.is_partial() {
        // The round with the cfg runs a part of the tests that the other entries are about.
        let is_unstable = options.round == Round::Unstable;
        let of_round = exceptions.test.iter().filter(|exception| exception.unstable == is_unstable);
        let unknown = of_round.filter(|exception| !results.outcomes.contains_key(&exception.name));
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
        "{} run, {passed} passed, {failed} failed, {} run again, {listed} listed, {ignored} ignored by tokio itself, {} files not compiled",
        passed + failed,
        results.run_again.len(),
        exceptions.files().count()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_good(outcome: Outcome, expect: &str) -> bool {
        is_good_with("", outcome, expect)
    }

    fn is_good_with(options: &str, outcome: Outcome, expect: &str) -> bool {
        let list = format!("[[test]]\nname = \"a\"\nexpect = \"{expect}\"\nreason = \"b\"");
        let options = Options::parse(options.split_whitespace().map(str::to_owned)).unwrap();
        let results = Results { outcomes: [("a".to_owned(), outcome)].into(), ..Results::default() };
        print(&results, &toml::from_str(&list).unwrap(), &options)
    }

    #[test]
    fn a_test_with_a_limit_must_pass_in_the_end() {
        assert!(is_good(Outcome::Passed, "limited"));
        assert!(!is_good(Outcome::Failed(String::new()), "limited"));
        assert!(!is_good(Outcome::TimedOut, "limited"));
    }

    #[test]
    fn a_slow_computer_may_miss_a_limit() {
        assert!(is_good_with("--slow", Outcome::Failed(String::new()), "limited"));
        assert!(!is_good_with("--slow", Outcome::TimedOut, "limited"));
        assert!(is_good_with("--slow", Outcome::Failed(String::new()), "failure"));
    }

    #[test]
    fn a_test_that_is_to_fail_must_not_pass() {
        assert!(is_good(Outcome::Failed(String::new()), "failure"));
        assert!(!is_good(Outcome::Passed, "failure"));
    }
}
