//! The counters of a runtime, while it runs and as text.

#[cfg(feature = "insight")]
mod prometheus;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{spawn_blocking, yield_now};

use crate::futures::join;
use crate::support::{current, every_runtime, multi, run, wait_until};

/// Go: `TestNumGoroutine`.
#[test]
fn the_number_of_tasks_is_exact_when_all_is_quiet() {
    for runtime in every_runtime() {
        let stop = Arc::new(tokio::sync::Semaphore::new(0));
        let metrics = runtime.metrics();
        let waiting = |stop: Arc<tokio::sync::Semaphore>| async move { drop(stop.acquire().await) };
        let tasks: Vec<_> = (0..1_000).map(|_| runtime.spawn(waiting(stop.clone()))).collect();
        run(&runtime, async {
            join((0..1_000).map(|_| spawn(yield_now())).collect()).await;
        });
        wait_until(|| metrics.num_alive_tasks() == 1_000);
        stop.add_permits(1_000);
        run(&runtime, join(tasks));
        wait_until(|| metrics.num_alive_tasks() == 0);
    }
}

#[test]
fn parks_are_counted_from_the_beginning_and_pair_up_with_unparks() {
    let runtime = multi(2).build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!([0, 1].map(|worker| metrics.worker_park_unpark_count(worker)), [1, 1]);
    assert_eq!([0, 1].map(|worker| metrics.worker_park_count(worker)), [1, 1]);
    run(&runtime, async { yield_now().await });
    wait_until(|| (0..2).any(|worker| metrics.worker_park_unpark_count(worker) >= 3));
    drop(runtime);
    for worker in 0..2 {
        assert_eq!(metrics.worker_park_unpark_count(worker) % 2, 0);
    }
    assert!((0..2).any(|worker| metrics.worker_total_busy_duration(worker) > Duration::ZERO));
}

#[test]
fn a_sleeping_runtime_is_not_busy() {
    const SLEEP: Duration = Duration::from_millis(200);
    for mut builder in [current(), multi(1)] {
        // Not every attempt succeeds: on a loaded system the thread may get no core while it is
        // busy.
        wait_until(|| {
            let runtime = builder.build().unwrap();
            let metrics = runtime.metrics();
            run(&runtime, async { gmp_exec::time::sleep(SLEEP).await });
            drop(runtime);
            assert!(metrics.worker_park_count(0) >= 1);
            let busy = metrics.worker_total_busy_duration(0);
            assert!(Duration::ZERO < busy);
            busy < SLEEP
        });
    }
}

#[test]
fn a_processor_that_a_closure_hands_off_is_not_busy() {
    const HELD: Duration = Duration::from_millis(20);
    // Not every attempt succeeds: on a loaded system it takes long to wake the machine that gets
    // the processor, and the processor counts as busy during that time.
    wait_until(|| {
        // Without sysmon the scheduler hands off the processor before each closure.
        let runtime = multi(2).sysmon(false).build().unwrap();
        let metrics = runtime.metrics();
        for _ in 0..20 {
            run(&runtime, async { spawn_blocking(|| std::thread::sleep(HELD)).await.unwrap() });
        }
        drop(runtime);
        let busy: Duration = (0..2).map(|worker| metrics.worker_total_busy_duration(worker)).sum();
        busy < HELD * 10
    });
}

// ---- while it runs ----

fn one_worker() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

#[test]
fn a_worker_is_busy_while_its_first_poll_lasts() {
    let runtime = one_worker();
    let metrics = runtime.metrics();
    let (finish, finished) = channel::<()>();
    let task = runtime.spawn(async move { while finished.try_recv().is_err() {} });
    let busy = || metrics.worker_total_busy_duration(0);
    wait_until(|| busy() > Duration::from_millis(5));
    let before = busy();
    wait_until(|| busy() > before);
    finish.send(()).unwrap();
    runtime.block_on(task).unwrap();
}

#[test]
fn busy_time_never_decreases() {
    let runtime = one_worker();
    let metrics = runtime.metrics();
    let mut last = Duration::ZERO;
    for _ in 0..2_000 {
        runtime.block_on(runtime.spawn(async {})).unwrap();
        for _ in 0..10 {
            let now = metrics.worker_total_busy_duration(0);
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
        }
    }
}

#[test]
fn polls_that_use_up_their_budget_are_counted_once_however_many_futures_they_have() {
    for runtime in every_runtime() {
        let metrics = runtime.metrics();
        let greedy = || async {
            for _ in 0..65 {
                gmp_exec::task::coop::consume_budget().await;
            }
        };
        run(&runtime, async move {
            futures::future::join(greedy(), greedy()).await;
        });
        assert_eq!(metrics.budget_forced_yield_count(), 1);
    }
}

#[test]
fn tasks_are_counted_by_where_they_were_queued() {
    for runtime in [current().build().unwrap(), multi(1).build().unwrap()] {
        let metrics = runtime.metrics();
        run(&runtime, async {
            for _ in 0..100 {
                spawn(async {}).await.unwrap();
            }
        });
        assert_eq!(metrics.spawned_tasks_count(), 101);
        // A task that is spawned is queued, and wakes the one that waits for it.
        assert_eq!(metrics.worker_local_schedule_count(0), 200);
        assert_eq!(metrics.remote_schedule_count(), 1);
        assert!(metrics.worker_noop_count(0) <= metrics.worker_park_count(0));
    }
}

#[test]
fn parks_without_a_poll_in_between_are_no_ops() {
    let runtime = current().build().unwrap();
    let metrics = runtime.metrics();
    // The future of `block_on` is no task: no poll is counted.
    runtime.block_on(async { gmp_exec::time::sleep(Duration::from_millis(1)).await });
    let no_ops = metrics.worker_noop_count(0);
    assert!(no_ops >= 1, "it has slept, and polled nothing before");
    run(&runtime, async { gmp_exec::time::sleep(Duration::from_millis(1)).await });
    assert_eq!(metrics.worker_poll_count(0), 2);
    assert!(metrics.worker_park_count(0) > metrics.worker_noop_count(0), "there was a poll before the last park");
}
