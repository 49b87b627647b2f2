//! A seed gives the same run.

use crate::child::{Run, run};

const RUNS: usize = 20;

/// The first line in which the two differ.
fn difference<'a>(one: &'a Run, other: &'a Run) -> Option<(&'a str, &'a str)> {
    one.log.lines().zip(other.log.lines()).find(|(one, other)| one != other)
}

#[test]
fn a_seed_gives_the_same_hash() {
    for scenario in ["correct", "forms", "controlled", "deadlock_of_locks"] {
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
