//! A seed gives the same run.

use crate::child::{Run, replay, run, run_with};
use crate::planted;

const RUNS: usize = 20;

/// The first line in which the two differ.
fn difference<'a>(one: &'a Run, other: &'a Run) -> Option<(&'a str, &'a str)> {
    one.log.lines().zip(other.log.lines()).find(|(one, other)| one != other)
}

#[test]
fn a_seed_gives_the_same_hash() {
    for scenario in ["correct", "forms", "controlled", "two_locks"] {
        for seed in 0..3 {
            let first = run(scenario, seed);
            for _ in 1..RUNS {
                let again = run(scenario, seed);
                assert_eq!(
                    (first.field("hash"), first.field("decisions"), first.field("virtual_ns")),
                    (again.field("hash"), again.field("decisions"), again.field("virtual_ns")),
                    "{scenario}, seed {seed}: {:?}",
                    difference(&first, &again)
                );
            }
        }
    }
}

#[test]
fn seeds_differ() {
    assert_ne!(run("correct", 1).field("hash"), run("correct", 2).field("hash"));
}

#[test]
fn a_log_of_decisions_gives_the_same_run() {
    for scenario in ["correct", "forms", "two_locks", "order_of_timers"] {
        let written = run(scenario, 3);
        let short = |line: &str| {
            let (choice, kind) = line.split_once(" of ")?;
            Some(format!("{choice} {}\n", kind.split_once(' ')?.1.split_once(',')?.0))
        };
        let choices: String = written.log.lines().filter_map(short).collect();
        for file in [&written.log, &choices] {
            let again = replay(scenario, 3, file);
            assert_eq!(written.report, again.report, "{scenario}: {:?}", difference(&written, &again));
        }
    }
}

#[test]
fn zeros_are_the_order_in_which_nothing_goes_wrong() {
    let faults = planted::ALL.iter().filter(|fault| fault.enough != "none").map(|fault| fault.name);
    for scenario in ["correct", "forms", "controlled"].into_iter().chain(faults) {
        let run = replay(scenario, 3, "");
        assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "{scenario}: {run:#?}");
        assert!(run.choices().all(|choice| choice == "0"), "{scenario}: {}", run.log);
    }
}

#[test]
fn a_file_that_is_no_log_is_refused() {
    for line in ["no number", "1", "1 Coin", "x Task"] {
        let run = replay("correct", 3, &format!("1 Task\n{line}\n"));
        assert_eq!(run.status, Some(101));
        let said = format!("gmp: GMP_SEED_REPLAY: {line:?} is no choice; allowed is a number and a kind");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
    }
}

#[test]
fn bad_settings_are_named_with_what_is_allowed() {
    for (name, value, expected) in [
        ("GMP_SEED", "xyz", "GMP_SEED=\"xyz\": allowed is a hexadecimal number of up to 16 digits\n"),
        ("GMP_SEED_SECONDS", "0", "GMP_SEED_SECONDS=\"0\": allowed is a number, 1 or more\n"),
        ("GMP_SEED_KINDS", "foo", "\"foo\" is no kind of decision; allowed are none, task, timer, yield, switch, "),
        ("GMP_SEED_REPLAY", "/nosuch", "GMP_SEED_REPLAY=\"/nosuch\": No such file or directory"),
    ] {
        let run = run_with("correct", 3, &[(name, value)]);
        assert_eq!(run.status, Some(101), "{name}: {run:#?}");
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn a_report_that_can_not_be_written_is_told() {
    let run = run_with("correct", 3, &[("GMP_SEED_REPORT", "/nosuch/report")]);
    assert_eq!(run.status, Some(0), "{run:#?}");
    assert_eq!(
        run.stderr.matches("gmp: GMP_SEED_REPORT=\"/nosuch/report\": No such file").count(),
        1,
        "{}",
        run.stderr
    );
}
