//! The global queue and the counters of a runtime with so many processors that they have several
//! parts: all parts are served and counted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{Id, JoinHandle};

use crate::support::{Flag, Watchdog, multi, wait_until};

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
