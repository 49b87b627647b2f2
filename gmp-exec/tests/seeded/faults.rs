//! Faults, each of which needs another kind of decision to be found.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Builder;
use gmp_exec::task::{LocalSet, coop, spawn_local, yield_now};
use gmp_exec::{spawn, time};
use tokio::sync::{Mutex as Lock, mpsc};

use crate::child::{count, run, run_with};

/// Each fault is found at one of so many seeds.
const SEEDS: u64 = 40;

fn on_two_workers(future: impl Future<Output = ()>) {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(future);
}

fn on_one_thread(future: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}

/// A check of the budget, as each lock and channel of the drop-in makes.
async fn check_budget() {
    coop::consume_budget().await;
}

/// Needs a yield between the two locks.
pub(crate) fn deadlock_of_locks() {
    on_one_thread(async {
        let (a, b) = (Arc::new(Lock::new(())), Arc::new(Lock::new(())));
        let both = |first: Arc<Lock<()>>, second: Arc<Lock<()>>| async move {
            let _first = first.lock().await;
            check_budget().await;
            let _second = second.lock().await;
        };
        let tasks = [spawn(both(a.clone(), b.clone())), spawn(both(b, a))];
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_deadlock_is_found_when_it_happens_and_said() {
    let found = count("deadlock_of_locks", SEEDS, "deadlock");
    println!("{found} of {SEEDS} seeds");
    assert!((1..SEEDS as usize).contains(&found), "{found} of {SEEDS}");
    let bad = (0..SEEDS).map(|seed| run("deadlock_of_locks", seed)).find(|run| run.status == Some(101)).unwrap();
    assert!(bad.stderr.contains(": deadlock: 2 tasks wait, no timer is set\n"), "{}", bad.stderr);
    assert!(bad.stderr.contains("gmp: runtime 1: 2 tasks"), "{}", bad.stderr);
    assert!(bad.stderr.contains("\ngmp: thread 0 "), "{}", bad.stderr);
}

/// Needs another order of tasks than that of their wakes.
pub(crate) fn lost_update() {
    on_two_workers(async {
        let value = Arc::new(Lock::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let value = value.clone();
                spawn(async move {
                    let before = *value.lock().await;
                    yield_now().await;
                    *value.lock().await = before + 1;
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*value.lock().await, 2);
    });
}

/// Needs another order of tasks than that of their spawns.
pub(crate) fn order_of_senders() {
    on_one_thread(async {
        let (sender, mut receiver) = mpsc::channel(4);
        for number in 0..2 {
            let sender = sender.clone();
            spawn(async move { sender.send(number).await.unwrap() });
        }
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(0), Some(1)));
    });
}

/// The same in a set of tasks.
pub(crate) fn order_in_local_set() {
    on_one_thread(LocalSet::new().run_until(async {
        let first = Rc::new(Cell::new(None));
        let task = |number| {
            let first = first.clone();
            spawn_local(async move { first.set(first.get().or(Some(number))) })
        };
        let tasks = [task(0), task(1)];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(first.get(), Some(0));
    }));
}

/// Needs a timer that is late, so that the other one fires first.
pub(crate) fn order_of_timers() {
    on_one_thread(async {
        let last = Arc::new(AtomicUsize::new(0));
        let sleeper = |milliseconds| {
            let last = last.clone();
            spawn(async move {
                time::sleep(Duration::from_millis(milliseconds)).await;
                last.store(milliseconds as usize, SeqCst);
            })
        };
        let tasks = [sleeper(20), sleeper(21)];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(last.load(SeqCst), 21);
    });
}

/// Needs another order of plain threads.
pub(crate) fn order_of_threads() {
    let (names, all) = (Arc::new(Mutex::new(Vec::new())), 0..2);
    let threads: Vec<_> = all
        .map(|name| {
            let names = names.clone();
            thread::spawn(move || names.lock().unwrap().push(name))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*names.lock().unwrap(), [0, 1]);
}

/// Needs two polls that are under way at once: there is no `Pending` between the two accesses.
pub(crate) fn update_by_two_workers() {
    on_two_workers(async {
        let value = Arc::new(AtomicUsize::new(0));
        let update = |value: Arc<AtomicUsize>| async move {
            let before = value.load(SeqCst);
            thread::yield_now();
            value.store(before + 1, SeqCst);
        };
        let tasks = [spawn(update(value.clone())), spawn(update(value.clone()))];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(value.load(SeqCst), 2);
    });
}

#[test]
fn each_fault_is_found() {
    let scenarios = [
        "lost_update",
        "order_of_senders",
        "order_in_local_set",
        "order_of_timers",
        "order_of_threads",
        "update_by_two_workers",
    ];
    for scenario in scenarios {
        let found = count(scenario, SEEDS, "panic");
        println!("{scenario}: {found} of {SEEDS} seeds");
        assert!((1..SEEDS as usize).contains(&found), "{scenario}: {found} of {SEEDS}");
    }
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

/// All of the above, without the faults.
pub(crate) fn correct() {
    let begun = Instant::now();
    on_two_workers(async {
        let (value, count) = (Arc::new(Lock::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sender, mut receiver) = mpsc::channel(1);
        for _ in 0..3 {
            let (value, count, sender) = (value.clone(), count.clone(), sender.clone());
            spawn(async move {
                for _ in 0..3 {
                    check_budget().await;
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
