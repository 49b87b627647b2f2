//! `spawn_blocking`: closures run beside the tasks, up to the limit at a time.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Handle;
use gmp_exec::task::spawn_blocking;
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};

use super::{every_setting, use_the_runtime};
use crate::futures::join;
use crate::support::{Flag, Watchdog, busy_wait_until, current, in_place, multi, run, wait_until};

#[test]
fn closures_that_wait_for_each_other_all_get_to_run() {
    for runtime in every_setting().into_iter().chain([current().build().unwrap()]) {
        for _ in 0..3 {
            let together = Arc::new(Barrier::new(64));
            let closures = (0..64).map(|_| {
                let together = together.clone();
                runtime.spawn_blocking(move || _ = together.wait())
            });
            let closures = closures.collect();
            run(&runtime, join(closures));
        }
    }
}

#[test]
fn no_more_closures_run_than_allowed_and_all_finish() {
    let limited = [multi(1), multi(2), multi(8), current(), in_place(1), in_place(2), in_place(8)];
    for runtime in limited.map(|mut builder| builder.max_blocking_threads(4).build().unwrap()) {
        let (running, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let closures = (0..200).map(|_| {
            let (running, peak) = (running.clone(), peak.clone());
            runtime.spawn_blocking(move || {
                let now = running.fetch_add(1, SeqCst) + 1;
                peak.fetch_max(now, SeqCst);
                // The first closures wait until as many run as the limit allows.
                wait_until(|| peak.load(SeqCst) >= 4);
                thread::yield_now();
                running.fetch_sub(1, SeqCst);
            })
        });
        let closures = closures.collect();
        run(&runtime, join(closures));
        assert_eq!(peak.load(SeqCst), 4);
        wait_until(|| runtime.metrics().num_idle_blocking_threads() == runtime.metrics().num_blocking_threads());
        assert_eq!(runtime.metrics().blocking_queue_depth(), 0);
    }
}

#[test]
fn tasks_run_while_as_many_closures_block_as_may() {
    let limited = [multi(1), multi(2), current(), in_place(1), in_place(2)];
    for runtime in limited.map(|mut builder| builder.max_blocking_threads(2).build().unwrap()) {
        let end = Flag::new();
        let closures = (0..10).map(|_| {
            let end = end.clone();
            runtime.spawn_blocking(move || end.wait())
        });
        let closures: Vec<_> = closures.collect();
        run(&runtime, async {
            for _ in 0..20 {
                spawn(sleep_a_little()).await.unwrap();
            }
        });
        assert!(closures.iter().all(|closure| !closure.is_finished()));
        end.set();
        run(&runtime, join(closures));
    }
}

async fn sleep_a_little() {
    sleep(Duration::from_micros(100)).await;
}

#[test]
fn a_closure_is_not_on_a_thread_that_runs_tasks() {
    for runtime in [multi(2), current(), in_place(2)].map(|mut builder| builder.build().unwrap()) {
        run(&runtime, async {
            let closure = spawn_blocking(|| {
                assert!(task::try_id().is_some());
                // A closure may block, so it may enter and drop another runtime, and enter its own.
                use_the_runtime();
                drop(multi(1).build().unwrap());
            });
            closure.await.unwrap();
        });
    }
}

#[test]
fn a_closure_that_panics_releases_its_permit() {
    for runtime in
        [multi(1), current(), in_place(1)].map(|mut builder| builder.max_blocking_threads(1).build().unwrap())
    {
        run(&runtime, async {
            for _ in 0..20 {
                assert!(spawn_blocking(|| panic!("boom")).await.unwrap_err().is_panic());
            }
            assert_eq!(spawn_blocking(|| 42).await.unwrap(), 42);
        });
    }
}

#[test]
fn a_closure_can_be_aborted_until_it_starts() {
    for runtime in [multi(1), multi(2), current(), in_place(1), in_place(2)]
        .map(|mut builder| builder.max_blocking_threads(1).build().unwrap())
    {
        let (begun, end) = (Flag::new(), Flag::new());
        let running = {
            let (begun, end) = (begun.clone(), end.clone());
            runtime.spawn_blocking(move || {
                begun.set();
                end.wait();
                42
            })
        };
        begun.wait();
        let ran = Arc::new(AtomicBool::new(false));
        let witness = ran.clone();
        let waiting = runtime.spawn_blocking(move || witness.store(true, SeqCst));
        waiting.abort();
        running.abort();
        end.set();
        let results = run(&runtime, async { (running.await, waiting.await) });
        assert_eq!(results.0.unwrap(), 42, "a closure that runs is not stopped");
        assert!(results.1.unwrap_err().is_cancelled());
        assert!(!ran.load(SeqCst));
    }
}

#[test]
fn short_closures_in_great_number_all_run() {
    for runtime in every_setting().into_iter().chain([current().build().unwrap()]) {
        let sum: u64 = run(&runtime, async {
            let closures = (0..2_000u64).map(|i| spawn_blocking(move || i)).collect();
            join(closures).await.into_iter().sum()
        });
        assert_eq!(sum, 1_999 * 2_000 / 2);
    }
}

/// The current-thread flavour has one thread for tasks, and nothing may take its processor.
#[test]
fn closures_run_beside_the_thread_of_the_current_thread_flavour() {
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(async {
        let tasks_thread = thread::current().id();
        let flag = Flag::new();
        let closure = {
            let flag = flag.clone();
            spawn_blocking(move || {
                flag.set();
                thread::current().id()
            })
        };
        busy_wait_until(|| flag.is_set());
        assert_ne!(closure.await.unwrap(), tasks_thread);
    });
}

/// A closure in place does not hand off its processor, so sysmon must find the closure when it
/// begins to block later: soon, although the threshold is long.
#[test]
fn a_task_that_a_closure_waits_for_runs_soon_whatever_the_threshold() {
    const ROUNDS: usize = 20;
    let threshold = Duration::from_secs(2);
    let runtime = in_place(1).blocking_threshold(threshold).build().unwrap();
    let is_slow = || {
        let start = Instant::now();
        run(&runtime, async {
            let closure = spawn_blocking(|| Handle::current().block_on(spawn(async {})).unwrap());
            closure.await.unwrap();
        });
        start.elapsed() >= threshold / 4
    };
    assert!((0..ROUNDS).filter(|_| is_slow()).count() < ROUNDS / 2);
}
