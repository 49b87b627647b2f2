//! Walks over many tasks, beside tasks that come and go.

use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Handle, TaskState};
use gmp_exec::task::{Id, block_in_place, spawn_blocking, spawn_blocking_in_place, yield_now};
use gmp_exec::{spawn, time};

use crate::support::{Watchdog, alone, multi, wait_until};

fn ids(handle: &Handle) -> HashSet<Id> {
    let mut found = HashSet::new();
    for info in handle.tasks() {
        assert!(found.insert(info.id), "{info:?} is returned twice");
    }
    found
}

#[test]
fn every_one_of_many_tasks_is_found_once() {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let spawned: Vec<_> = (0..100_000).map(|_| runtime.spawn(pending::<()>())).collect();
    let is_waiting = || runtime.handle().tasks().filter(|info| info.state == TaskState::Waiting).count();
    wait_until(|| is_waiting() == spawned.len());
    let expected: HashSet<Id> = spawned.iter().map(|task| task.id()).collect();
    assert_eq!(ids(runtime.handle()), expected);
}

/// Threads walk in a loop while tasks are spawned, woken, moved between threads and aborted. A task
/// that lives all the time must be in every list, once. Under AddressSanitizer this also checks
/// that no header is read after it was freed.
#[test]
fn no_task_is_lost_or_returned_twice_beside_tasks_that_come_and_go() {
    let _alone = alone();
    let runtime = multi(4).blocking_threshold(Duration::from_micros(200)).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let mut staying: Vec<_> = (0..1_000).map(|_| runtime.spawn(pending::<()>())).collect();
    // These are woken all the time, and are found in each of the states.
    staying.extend((0..50).map(|i| {
        runtime.spawn(async move {
            loop {
                time::sleep(Duration::from_micros(50 * i)).await;
                yield_now().await;
            }
        })
    }));
    let expected: HashSet<Id> = staying.iter().map(|task| task.id()).collect();
    wait_until(|| {
        runtime.handle().tasks().filter(|info| info.polls > 0 && info.age.is_some()).count() == expected.len()
    });
    let end = Arc::new(AtomicBool::new(false));
    let churn: Vec<_> = (0..8).map(|_| runtime.spawn(come_and_go(end.clone()))).collect();
    let walkers: Vec<_> = (0..2).map(|_| walk(runtime.handle().clone(), expected.clone(), end.clone())).collect();
    thread::sleep(Duration::from_secs(2)); // the length of the test, and no synchronisation
    end.store(true, SeqCst);
    let walks: Vec<usize> = walkers.into_iter().map(|walker| walker.join().unwrap()).collect();
    assert!(walks.iter().all(|&walks| walks > 0), "{walks:?}");
    for task in churn {
        runtime.block_on(task).unwrap();
    }
    wait_until(|| ids(runtime.handle()) == expected);
}

fn walk(handle: Handle, expected: HashSet<Id>, end: Arc<AtomicBool>) -> thread::JoinHandle<usize> {
    thread::spawn(move || {
        let mut walks = 0;
        while !end.load(SeqCst) {
            let found = ids(&handle);
            let lost = expected.difference(&found).count();
            assert_eq!(lost, 0, "of {}", found.len());
            walks += 1;
        }
        walks
    })
}

async fn come_and_go(end: Arc<AtomicBool>) {
    while !end.load(SeqCst) {
        let aborted = spawn(pending::<()>());
        let abort = aborted.abort_handle();
        let short = spawn(async {});
        let waits = spawn(time::sleep(Duration::from_micros(20)));
        let closures = [spawn_blocking(|| ()), spawn_blocking_in_place(|| ())];
        let blocks = spawn(async { block_in_place(thread::yield_now) });
        let holds = spawn(async { thread::sleep(Duration::from_micros(300)) });
        abort.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        for task in [short, waits, blocks, holds].into_iter().chain(closures) {
            task.await.unwrap();
        }
    }
}
