//! Which faults seeds find, and by which kinds of decisions.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::*;
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use gmp_exec::runtime::Builder;
use gmp_exec::task::coop;
use gmp_exec::{spawn, time};
use tokio::sync::{Mutex as Lock, mpsc};

use crate::child::{Run, run, run_with};
use crate::planted::{self, KINDS, Planted};

/// Each fault is found at one of so many seeds.
const SEEDS: u64 = 200;
/// A fault that can't be found is looked for at so many.
const FEW: u64 = 30;

/// The first seed that finds the fault, by decisions of these kinds alone.
fn first(fault: &Planted, kinds: &str, seeds: u64) -> Option<(u64, Run)> {
    let runs = (0..seeds).map(|seed| (seed, run_with(fault.name, seed, &[("GMP_SEED_KINDS", kinds)])));
    runs.map(|(seed, run)| (seed, run)).find(|(seed, run)| {
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

fn on_two_workers(future: impl Future<Output = ()>) {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future);
}

fn on_one_thread(future: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
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
    for settings in [("GMP_SEED_SECONDS", "3600"), ("GMP_SEED_DECISIONS", "100")] {
        let run = run_with("spins_on_timers", 1, &[settings]);
        assert_eq!((run.field("end"), run.status), ("limit", Some(101)), "{run:#?}");
        assert!(run.stderr.contains("gmp: seed 1: limit: "), "{}", run.stderr);
    }
}

/// Locks, channels and timers, without a fault.
pub(crate) fn correct() {
    let begun = Instant::now();
    on_two_workers(async {
        let (value, count) = (Arc::new(Lock::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sender, mut receiver) = mpsc::channel(1);
        for _ in 0..3 {
            let (value, count, sender) = (value.clone(), count.clone(), sender.clone());
            spawn(async move {
                for _ in 0..3 {
                    coop::consume_budget().await;
                    *value.lock().await += 1;
                    count.fetch_add(1, SeqCst);
                    sender.send(()).await.unwrap();
                    time::sleep(Duration::from_millis(10)).await;
                }
            });
        }
        drop(sender);
        let mut received = 0;
        while time::timeout(Duration::from_secs(10), receiver.recv()).await.unwrap().is_some() {
            received += 1;
        }
        assert_eq!((received, *value.lock().await, count.load(SeqCst)), (9, 9, 9));
        poll_fn(|cx| {
            ready!(coop::poll_proceed(cx)).made_progress();
            Poll::Ready(())
        })
        .await;
    });
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

#[test]
fn a_correct_program_stays_silent() {
    for seed in 0..SEEDS {
        let run = run("correct", seed);
        assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "seed {seed}: {run:#?}");
    }
}
