//! The same code gives the same count.

use gmp_lines::{prepare, run, scenario};

use super::gmp::Gmp;

/// The same seed gives the same count, place by place; another seed does not.
#[test]
fn lines_runs_repeat() {
    prepare::<Gmp>();
    let scenario = scenario::<Gmp>("spawn_outside_64");
    let [first, second, other] = [1, 1, 2].map(|seed| run(&scenario, 8, seed).transfers);
    assert_eq!(first, second);
    assert_ne!(first, other);
}

/// A thief compares the pointer to a task with the one that it saw. So the count depends on whether
/// a new task gets the memory of one that has ended, and that must not depend on earlier runs.
#[test]
fn lines_runs_repeat_on_a_used_heap() {
    prepare::<Gmp>();
    let scenario = scenario::<Gmp>("steal");
    let run = || run(&scenario, 64, 1).transfers;
    let first = run();
    for _ in 0..8 {
        let gaps = gaps();
        assert_eq!(run(), first);
        drop(gaps);
    }
}

/// Memory with free blocks between those that are in use, of sizes around that of a task.
fn gaps() -> Vec<Vec<u8>> {
    let blocks = || (0..20_000).map(|i| Vec::with_capacity(64 + i * 40 % 1024));
    let (kept, _freed): (Vec<_>, Vec<_>) = blocks().enumerate().partition(|(i, _)| i % 3 == 0);
    kept.into_iter().map(|(_, block)| block).collect()
}
