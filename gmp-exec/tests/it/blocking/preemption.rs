//! Polls that do not return for long, or never, do not stop other tasks: their processors are
//! taken. Go preempts a goroutine that runs for long. A poll can't be preempted, so these tests
//! have a poll that does not return in place of Go's loops.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{blocking, yield_now};
use gmp_exec::time::sleep;

use crate::futures::join;
use crate::support::{Flag, Watchdog, busy_wait_until, compute_for, multi, run, taken, wait_until};

/// Go: `TestPreemption`, `TestAsyncPreempt`, with one processor and with two.
#[test]
fn polls_that_wait_for_each_other_by_computing_both_end() {
    for processors in [1, 2] {
        let runtime = multi(processors).build().unwrap();
        run(&runtime, async {
            let turn = Arc::new(AtomicUsize::new(0));
            let players = [0, 1].map(|parity| {
                let turn = turn.clone();
                spawn(async move {
                    for _ in 0..20 {
                        busy_wait_until(|| turn.load(SeqCst) % 2 == parity);
                        turn.fetch_add(1, SeqCst);
                    }
                })
            });
            for player in players {
                player.await.unwrap();
            }
            assert_eq!(turn.load(SeqCst), 40);
        });
    }
}

/// Go: `TestPreemptionGC`, `TestGCFairness`. Polls that never end do not stop other tasks. There
/// are more of them than processors, but not more than `max_hogs`, beyond which only the kernel
/// could help.
#[test]
fn polls_that_compute_without_end_do_not_stop_others() {
    for processors in [1, 2] {
        without_end(&multi(processors).max_hogs(4).build().unwrap(), 4, Flag::busy_wait);
    }
}

/// The same for polls that sleep, whose number is not limited.
#[test]
fn polls_that_block_without_end_do_not_stop_others() {
    for processors in [1, 2] {
        without_end(&multi(processors).build().unwrap(), 16, Flag::wait);
    }
}

/// Checks that other tasks go on while `hogs` polls hold their threads by `wait`.
fn without_end(runtime: &Runtime, hogs: usize, wait: fn(&Flag)) {
    let stop = Flag::new();
    let hogs: Vec<_> = (0..hogs)
        .map(|_| {
            let stop = stop.clone();
            runtime.spawn(async move { wait(&stop) })
        })
        .collect();
    run(runtime, async {
        for _ in 0..20 {
            spawn(async { sleep(Duration::from_millis(1)).await }).await.unwrap();
        }
    });
    assert!(taken(runtime) != (0, 0));
    stop.set();
    run(runtime, join(hogs));
}

/// Go: `TestPreemptionAfterSyscall`. Eight polls on two processors make short system calls in a
/// loop: all eight begin, and all see the end.
#[test]
fn loops_of_short_system_calls_do_not_delay_others() {
    for (micros, declared) in [(10, true), (100, true), (1_000, true), (10, false), (100, false), (1_000, false)] {
        let runtime = multi(2).max_hogs(8).build().unwrap();
        let (started, stop) = (Arc::new(AtomicUsize::new(0)), Flag::new());
        let tasks = (0..8).map(|_| {
            let (started, stop) = (started.clone(), stop.clone());
            runtime.spawn(async move {
                started.fetch_add(1, SeqCst);
                let call = || thread::sleep(Duration::from_micros(micros));
                while !stop.is_set() {
                    if declared { blocking(call) } else { call() }
                }
            })
        });
        let tasks = tasks.collect();
        let _watchdog = Watchdog::of(&runtime);
        wait_until(|| started.load(SeqCst) == 8);
        stop.set();
        run(&runtime, join(tasks));
    }
}

/// Go: `TestStopTheWorldDeadlock`. Go's test stops the world all the time; this one takes
/// processors all the time.
#[test]
fn a_task_that_respawns_itself_goes_on_while_processors_are_taken() {
    let runtime = multi(3).blocking_threshold(Duration::from_micros(100)).build().unwrap();
    let generations = Arc::new(AtomicU64::new(0));
    respawn(generations.clone());
    fn respawn(generations: Arc<AtomicU64>) {
        if gmp_exec::runtime::Handle::try_current().is_err() {
            return;
        }
        spawn(async move {
            generations.fetch_add(1, SeqCst);
            respawn(generations);
        });
    }
    let _entered = runtime.enter();
    respawn(generations.clone());
    let hogs = run(&runtime, async {
        let hogs: Vec<_> = (0..4).map(|_| spawn(hog_by_turns())).collect();
        let mut ended = 0;
        for hog in hogs {
            hog.await.unwrap();
            ended += 1;
        }
        ended
    });
    assert_eq!(hogs, 4);
    let before = generations.load(SeqCst);
    let _watchdog = Watchdog::of(&runtime);
    wait_until(|| generations.load(SeqCst) > before + 1_000);
}

async fn hog_by_turns() {
    for turn in 0..100 {
        if turn % 2 == 0 {
            compute_for(Duration::from_micros(300))
        } else {
            thread::sleep(Duration::from_micros(300))
        }
        yield_now().await;
    }
}
