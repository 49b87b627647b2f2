//! `GMP_SEED_KEEP_ORDER`: where tokio has an order of tasks, seeds keep it.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use crate::child::{Run, run, run_with};
use crate::planted::{on_one_thread, on_two_workers, tasks};

const SEEDS: u64 = 200;

fn kept(scenario: &str, seed: u64) -> Run {
    run_with(scenario, seed, &[("GMP_SEED_KEEP_ORDER", "1")])
}

/// All tasks of a current-thread runtime that could run have run when the root future goes on.
pub(crate) fn all_run_at_a_yield() {
    on_one_thread(async {
        let count = Arc::new(AtomicU32::new(0));
        for _ in 0..5 {
            let count = count.clone();
            spawn(async move { count.fetch_add(1, Relaxed) });
        }
        yield_now().await;
        assert_eq!(count.load(Relaxed), 5);
    });
}

/// A runtime with workers has no order that could be kept.
pub(crate) fn on_workers() {
    on_two_workers(async { spawn(tasks::run_in_order_of_spawns()).await.unwrap() });
}

#[test]
fn programs_that_rely_on_tokios_order_pass() {
    for scenario in ["order_of_tasks", "order_in_local_set", "all_run_at_a_yield"] {
        let fails = (0..SEEDS).any(|seed| run(scenario, seed).field("end") == "panic");
        assert!(fails, "{scenario}: no seed finds another order");
        for seed in 0..SEEDS {
            let run = kept(scenario, seed);
            assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "{scenario}, seed {seed}: {run:#?}");
        }
    }
}

#[test]
fn all_else_follows_from_the_seed() {
    let has = |kind: &str| (0..SEEDS).any(|seed| kept("two_locks", seed).log.contains(&format!(" {kind}, decision ")));
    assert!(has("Yield") && has("Thread"));
    assert!((0..SEEDS).any(|seed| kept("two_locks", seed).field("end") == "deadlock"));
    assert!((0..SEEDS).any(|seed| kept("on_workers", seed).field("end") == "panic"));
    assert_ne!(kept("correct", 1).field("hash"), kept("correct", 2).field("hash"));
}

#[test]
fn a_current_thread_runtime_has_no_choice_of_tasks() {
    for seed in 0..20 {
        let log = |run: Run| run.log.lines().filter(|line| line.contains(" Task, decision ")).count();
        assert_eq!(log(kept("all_run_at_a_yield", seed)), 0);
        assert!(log(run("all_run_at_a_yield", seed)) > 0);
    }
}
