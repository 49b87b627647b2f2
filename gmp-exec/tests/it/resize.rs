//! The number of processors changes while tasks run.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, yield_now};
use gmp_exec::time::{Instant, sleep, sleep_until};

use crate::futures::join;
use crate::support::{Flag, Watchdog, compute_for, current, multi, run, wait_until, wait_until_idle};

fn resize(runtime: &Runtime, count: usize) -> usize {
    runtime.handle().set_max_procs(count).unwrap()
}

/// Waits until no more processors are in use than may be.
fn wait_until_settled(runtime: &Runtime) {
    let metrics = runtime.metrics();
    wait_until(|| metrics.num_retired_workers() == metrics.num_workers() - metrics.max_procs());
}

/// Spawns a task that holds its thread until the flag is set.
fn hold(handle: &Handle, until: &Flag, count: &Arc<AtomicUsize>) {
    let (until, count) = (until.clone(), count.clone());
    drop(handle.spawn(async move {
        count.fetch_add(1, SeqCst);
        until.busy_wait();
    }));
}

#[test]
fn the_old_number_is_returned() {
    let runtime = multi(2).build().unwrap();
    assert_eq!([3, 1, 1, 1024, 2].map(|count| resize(&runtime, count)), [2, 3, 1, 1, 1024]);
    assert_eq!(runtime.handle().max_procs(), 2);
    let metrics = runtime.metrics();
    assert_eq!((metrics.max_procs(), metrics.num_workers(), metrics.max_procs_changes()), (2, 1024, 4));
    run(&runtime, async { yield_now().await });
}

#[test]
fn a_bad_number_is_an_error_that_names_it_and_the_range() {
    let error = |runtime: &Runtime, count| runtime.handle().set_max_procs(count).unwrap_err().to_string();
    let runtime = multi(2).build().unwrap();
    for count in [0, 1025, usize::MAX] {
        assert_eq!(error(&runtime, count), format!("the number of processors is {count}, but must be from 1 to 1024"));
    }
    assert_eq!(runtime.handle().max_procs(), 2);
    let one = current().build().unwrap();
    let expected = "the number of processors is 2, but a current-thread runtime always has 1";
    assert_eq!(error(&one, 2), expected);
    assert_eq!(one.handle().set_max_procs(1), Ok(1));
}

/// Without sysmon no processor is taken from a task that computes, so as many of them run as there
/// are processors.
#[test]
fn tasks_that_queue_use_new_processors() {
    let runtime = multi(1).sysmon(false).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (end, running) = (Flag::new(), Arc::new(AtomicUsize::new(0)));
    (0..6).for_each(|_| hold(runtime.handle(), &end, &running));
    for count in [1, 3, 4, 6] {
        resize(&runtime, count);
        wait_until(|| running.load(SeqCst) == count);
    }
    end.set();
}

#[test]
fn with_one_processor_one_task_runs_at_a_time() {
    let runtime = multi(8).sysmon(false).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (running, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
    let most = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..32)
        .map(|_| {
            let (running, most, end) = (running.clone(), most.clone(), end.clone());
            runtime.spawn(async move {
                while !end.is_set() {
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    compute_for(Duration::from_micros(20));
                    running.fetch_sub(1, SeqCst);
                    yield_now().await;
                }
            })
        })
        .collect();
    for (count, expected) in [(1, 1), (2, 2), (8, 8), (1, 1)] {
        resize(&runtime, count);
        wait_until_settled(&runtime);
        most.store(0, SeqCst);
        let polls = total_polls(&runtime);
        wait_until(|| total_polls(&runtime) > polls + 500);
        assert!((1..=expected).contains(&most.load(SeqCst)), "{most:?} at {count}");
    }
    end.set();
    runtime.block_on(join(tasks));
}

fn total_polls(runtime: &Runtime) -> u64 {
    let metrics = runtime.metrics();
    (0..metrics.num_workers()).map(|worker| metrics.worker_poll_count(worker)).sum()
}

/// The task in the queue of a machine that is stuck, and that must give its processor up, runs on
/// another one; the processor retires although its poll goes on.
#[test]
fn a_stuck_processor_retires_when_work_waits() {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let stuck: Vec<_> = (0..2)
        .map(|_| {
            let end = end.clone();
            runtime.spawn(async move {
                drop(spawn(async {}));
                end.wait();
            })
        })
        .collect();
    resize(&runtime, 1);
    // sysmon takes the processors, which are needed for this.
    for _ in 0..10 {
        runtime.block_on(runtime.spawn(async { yield_now().await })).unwrap();
    }
    wait_until_settled(&runtime);
    assert!(!end.is_set());
    end.set();
    runtime.block_on(join(stuck));
}

/// Its timers are served by others.
#[test]
fn the_timers_of_a_retired_processor_fire() {
    let runtime = multi(8).build().unwrap();
    let sleepers: Vec<_> =
        (0..200).map(|i| runtime.spawn(async move { sleep(Duration::from_millis(20 + i % 30)).await })).collect();
    resize(&runtime, 1);
    run(&runtime, join(sleepers));
    wait_until_settled(&runtime);
    wait_until(|| runtime.metrics().num_idle_workers() == 1);
}

/// A busy processor looks at the timers of one other at a time, which with many processors may take
/// long. So sysmon asks for a look at all of them. On a loaded computer sysmon may get no core for long.
#[test]
fn the_timers_of_retired_processors_fire_in_time_beside_a_busy_task() {
    // 1 to 130. If sysmon does not ask, the timers do not fire, and the watchdog ends the test.
    let mut medians = Vec::new();
    while medians.iter().all(|&median| median >= 500) {
        assert!(medians.len() < 10, "{medians:?}");
        medians.push(median_lateness_of_retired_timers());
    }
}

/// In turns of a busy task, because the whole process may get no core.
fn median_lateness_of_retired_timers() -> usize {
    const TURN: Duration = Duration::from_micros(20);
    let runtime = multi(64).build().unwrap();
    let (turns, begun) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
    let sleepers: Vec<_> = (0..64)
        .map(|_| {
            let (turns, begun) = (turns.clone(), begun.clone());
            runtime.spawn(async move {
                begun.fetch_add(1, SeqCst);
                // The other tasks go to other processors.
                block_in_place(|| wait_until(|| begun.load(SeqCst) == 64));
                let deadline = Instant::now() + Duration::from_millis(30);
                sleep_until(deadline).await;
                let turns = turns.lock().unwrap();
                turns.len() - turns.partition_point(|&begun| begun < deadline)
            })
        })
        .collect();
    wait_until(|| begun.load(SeqCst) == 64);
    resize(&runtime, 1);
    let busy = runtime.spawn(async move {
        loop {
            turns.lock().unwrap().push(Instant::now());
            compute_for(TURN);
            yield_now().await;
        }
    });
    let mut late = run(&runtime, async move {
        let mut late = Vec::new();
        for sleeper in sleepers {
            late.push(sleeper.await.unwrap());
        }
        late
    });
    busy.abort();
    late.sort();
    wait_until(|| runtime.metrics().num_idle_workers() == 1);
    late[32]
}

#[test]
fn a_runtime_that_was_resized_shuts_down_completely() {
    for _ in 0..50 {
        let runtime = multi(2).build().unwrap();
        let (handle, dropped) = (runtime.handle().clone(), Arc::new(()));
        for count in [5, 1, 3] {
            resize(&runtime, count);
            let held = dropped.clone();
            drop(runtime.spawn(async move {
                let _held = held;
                std::future::pending::<()>().await
            }));
        }
        let resizing = thread::spawn(move || {
            for i in 0..100 {
                let _ = handle.set_max_procs(1 + i % 7).unwrap();
            }
            handle
        });
        drop(runtime);
        let handle = resizing.join().unwrap();
        assert_eq!(Arc::strong_count(&dropped), 1);
        // Nothing changes any more.
        let last = handle.max_procs();
        assert_eq!(handle.set_max_procs(9), Ok(last));
        assert_eq!(handle.max_procs(), last);
    }
}

/// A section that holds its processor for long, as many times as there are processors.
#[test]
fn sections_go_on_while_the_number_changes() {
    let runtime = multi(4).build().unwrap();
    run(&runtime, async {
        let tasks = (0..64).map(|i| {
            spawn(async move {
                let handle = Handle::current();
                for round in 0..20 {
                    let _ = block_in_place(|| handle.set_max_procs(1 + (i + round) % 5)).unwrap();
                    yield_now().await;
                }
            })
        });
        join(tasks.collect()).await;
    });
}

/// After all that, every processor still exists once.
#[test]
fn no_processor_is_lost_or_doubled() {
    let runtime = multi(3).build().unwrap();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            runtime.spawn(async {
                for _ in 0..500 {
                    yield_now().await;
                }
            })
        })
        .collect();
    for i in 0..2_000 {
        resize(&runtime, 1 + i * 7 % 11);
    }
    runtime.block_on(join(tasks));
    resize(&runtime, 4);
    wait_until_settled(&runtime);
    wait_until(|| runtime.metrics().num_idle_workers() == 4);
    resize(&runtime, 11);
    assert_eq!(runtime.metrics().num_retired_workers(), 0);
    wait_until_idle(&runtime);
}
