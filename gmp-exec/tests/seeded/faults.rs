//! Which faults seeds find, and by which kinds of decisions.

use std::time::Duration;

use gmp_exec::task::yield_now;
use gmp_exec::time;

use crate::child::{Run, run_with};
use crate::planted::{self, KINDS, Planted, on_one_thread};

/// Each fault is found at one of so many seeds.
const SEEDS: u64 = 200;
/// A fault that can't be found is looked for at so many.
const FEW: u64 = 30;

/// The first seed that finds the fault, by decisions of these kinds alone.
fn first(fault: &Planted, kinds: &str, seeds: u64) -> Option<(u64, Run)> {
    let mut runs = (0..seeds).map(|seed| (seed, run_with(fault.name, seed, &[("GMP_SEED_KINDS", kinds)])));
    runs.find(|(seed, run)| {
        let end = run.field("end");
        assert!(end == "ok" || end == fault.end, "{}, seed {seed}: {run:#?}", fault.name);
        end != "ok"
    })
}

/// All kinds but this one.
fn without(kind: &str) -> String {
    let others: Vec<_> = KINDS.into_iter().filter(|other| *other != kind).collect();
    others.join(",")
}

#[test]
fn each_fault_is_found() {
    for fault in planted::ALL {
        let found = first(fault, &KINDS.join(","), SEEDS);
        println!("{}: seed {}", fault.name, found.expect(fault.name).0);
    }
}

#[test]
fn each_kind_of_decision_has_a_fault_that_it_alone_finds() {
    for fault in planted::ALL {
        assert!(first(fault, fault.enough, SEEDS).is_some(), "{} needs more than {}", fault.name, fault.enough);
        for kind in fault.needs.split(',').filter(|kind| *kind != "none") {
            let found = first(fault, &without(kind), FEW);
            assert!(found.is_none(), "{} is found without {kind}: {found:#?}", fault.name);
        }
    }
    let alone = |kind| planted::ALL.iter().any(|fault| fault.needs == kind && fault.enough == kind);
    assert!(KINDS.into_iter().all(alone));
}

#[test]
fn a_deadlock_is_found_when_it_happens_and_said() {
    let fault = planted::ALL.iter().find(|fault| fault.name == "two_locks").expect("it is listed");
    let (_, bad) = first(fault, &KINDS.join(","), SEEDS).expect("it is found");
    assert_eq!(bad.status, Some(101));
    assert!(bad.stderr.contains(": deadlock: 2 tasks wait, no timer is set\n"), "{}", bad.stderr);
    assert!(bad.stderr.contains("gmp: runtime 1: 2 tasks"), "{}", bad.stderr);
    assert!(bad.stderr.contains("\ngmp: thread 0 "), "{}", bad.stderr);
    assert_eq!(bad.stderr.matches(", age 0.0 s, ").count(), 2, "{}", bad.stderr);
}

/// Never waits, and there is nothing to decide.
pub(crate) fn spins() {
    on_one_thread(async {
        loop {
            yield_now().await;
        }
    });
}

/// Waits for ever, and never for the same timer.
pub(crate) fn spins_on_timers() {
    on_one_thread(async {
        loop {
            time::sleep(Duration::from_secs(60)).await;
        }
    });
}

#[test]
fn a_run_that_does_not_end_has_limits() {
    let of_time = ("spins_on_timers", "GMP_SEED_SECONDS", "3600");
    let of_decisions = ["spins", "spins_on_timers"].map(|scenario| (scenario, "GMP_SEED_DECISIONS", "100"));
    for (scenario, setting, value) in [of_time].into_iter().chain(of_decisions) {
        let run = run_with(scenario, 1, &[(setting, value)]);
        assert_eq!((run.field("end"), run.status), ("limit", Some(101)), "{run:#?}");
        assert!(run.stderr.contains("gmp: seed 1: limit: "), "{}", run.stderr);
    }
}
