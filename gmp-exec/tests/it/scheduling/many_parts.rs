//! The global queue and the counters of a runtime with so many processors that they have several
//! parts: all parts are served and counted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{Id, JoinHandle};

use crate::support::{Flag, Watchdog, compute_for, multi, wait_until};

const PROCESSORS: usize = 64;
const THREADS: usize = 16;
const EACH: usize = 5;

#[test]
fn tasks_in_all_parts_are_counted_found_and_run() {
    let runtime = multi(PROCESSORS).sysmon(false).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (metrics, end) = (runtime.metrics(), Flag::new());
    let blockers = occupy_processors(&runtime, &end);
    let queued = spawn_from_threads(&runtime, || async {});
    assert_eq!(metrics.global_queue_depth(), THREADS * EACH);
    assert_eq!(metrics.num_alive_tasks(), PROCESSORS + THREADS * EACH);
    assert_eq!(metrics.remote_schedule_count(), (PROCESSORS + THREADS * EACH) as u64);
    let mut walk = runtime.handle().tasks();
    let found: BTreeSet<Id> = walk.by_ref().map(|info| info.id).collect();
    assert!(queued.iter().all(|task| found.contains(&task.id())));
    assert_eq!((found.len(), walk.unseen()), (PROCESSORS + THREADS * EACH, 0));

    end.set();
    runtime.block_on(async {
        for task in blockers.into_iter().chain(queued) {
            task.await.unwrap();
        }
    });
    wait_until(|| metrics.num_alive_tasks() == 0);
    assert_eq!(metrics.global_queue_depth(), 0);
}

/// One processor is left, and one part never runs empty. Turns are long, so sysmon asks for the
/// looks.
#[test]
fn a_part_that_is_always_filled_does_not_hold_up_the_others() {
    let runtime = multi(PROCESSORS).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    runtime.handle().set_max_procs(1).unwrap();
    let (turns, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
    let longest = thread::scope(|scope| {
        scope.spawn(|| keep_a_part_filled(&runtime, &turns, &end));
        wait_until(|| turns.load(Relaxed) > 0);
        // Threads that begin one after the other push to different parts.
        let waiting: Vec<_> = (0..7).map(|_| scope.spawn(|| longest_wait(&runtime, &turns))).collect();
        let longest = waiting.into_iter().map(|thread| thread.join().unwrap()).max();
        end.set();
        longest
    });
    // 10 to 60 turns; 420 if the looks went round the parts as slowly as the regular ones do.
    assert!(longest.unwrap() < 250, "{longest:?} turns");
}

fn keep_a_part_filled(runtime: &Runtime, turns: &Arc<AtomicUsize>, end: &Flag) {
    let mut spawned = 0;
    while !end.is_set() {
        if spawned - turns.load(Relaxed) > 400 {
            thread::yield_now();
            continue;
        }
        spawned += 1;
        let (turns, end) = (turns.clone(), end.clone());
        runtime.spawn(async move {
            if !end.is_set() {
                compute_for(Duration::from_millis(4));
            }
            turns.fetch_add(1, Relaxed);
        });
    }
}

/// How many turns come before a new task's, at most.
fn longest_wait(runtime: &Runtime, turns: &Arc<AtomicUsize>) -> usize {
    let wait = |_| {
        let begun = turns.load(Relaxed);
        // The next regular look begins at another part.
        wait_until(|| turns.load(Relaxed) > begun + 61);
        let before = turns.load(Relaxed);
        let turns = turns.clone();
        runtime.block_on(runtime.spawn(async move { turns.load(Relaxed) })).unwrap() - before
    };
    (0..3).map(wait).max().unwrap()
}

#[test]
fn tasks_in_all_parts_are_dropped_with_the_runtime() {
    let runtime = multi(PROCESSORS).sysmon(false).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let _blockers = occupy_processors(&runtime, &end);
    let queued = spawn_from_threads(&runtime, || async {});
    runtime.shutdown_background();
    assert!(queued.iter().all(JoinHandle::is_finished));
    end.set();
}

/// Spawns a task for each processor that stays in its poll until `end`.
fn occupy_processors(runtime: &Runtime, end: &Flag) -> Vec<JoinHandle<()>> {
    let begun = Arc::new(AtomicUsize::new(0));
    let blocker = |_| {
        let (begun, end) = (begun.clone(), end.clone());
        runtime.spawn(async move {
            begun.fetch_add(1, Relaxed);
            end.wait();
        })
    };
    let blockers = (0..PROCESSORS).map(blocker).collect();
    wait_until(|| begun.load(Relaxed) == PROCESSORS);
    blockers
}

/// Each of the threads spawns a few tasks.
fn spawn_from_threads<F>(runtime: &Runtime, future: fn() -> F) -> Vec<JoinHandle<()>>
where
    F: Future<Output = ()> + Send + 'static,
{
    let spawn = || (0..EACH).map(|_| runtime.spawn(future())).collect::<Vec<_>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(spawn)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}
