//! Tasks that are spawned, yield, are stolen, and are aborted.

use std::future::pending;

use crate::sched::tests::crowd::{Alive, explore, runtime, shut_down};
use crate::sync::Arc;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::{spawn, yield_now};

/// Every spawned task runs, whether it was spawned from outside or by a task.
#[test]
fn shuttle_tasks_spawn_storm() {
    explore(|| {
        let runtime = runtime(2);
        let sum = runtime.block_on(async {
            let tasks: Vec<_> =
                (0..3).map(|i| spawn(async move { spawn(async move { i }).await.unwrap() + 1 })).collect();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 6);
        shut_down(runtime);
    });
}

/// Machines that steal more than one task wake others, and all tasks run.
#[test]
fn shuttle_tasks_burst_wakes_machines() {
    explore(|| {
        let runtime = runtime(5);
        let ran = Arc::new(AtomicUsize::new(0));
        runtime.block_on(async {
            let count = ran.clone();
            let burst = spawn(async move {
                let tasks: Vec<_> = (0..8)
                    .map(|_| {
                        let count = count.clone();
                        spawn(async move { _ = count.fetch_add(1, Relaxed) })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
            burst.await.unwrap();
        });
        assert_eq!(ran.load(Relaxed), 8);
        shut_down(runtime);
    });
}

/// Shutdown at any moment drops every future: in a queue, on its way into a queue, running, or
/// waiting.
#[test]
fn shuttle_tasks_spawn_storm_against_shutdown() {
    explore(|| {
        let runtime = runtime(2);
        let alive = Alive::default();
        for _ in 0..3 {
            let [outer, inner] = [alive.count(), alive.count()];
            runtime.spawn(async move {
                let _outer = outer;
                spawn(async move {
                    let _inner = inner;
                    yield_now().await;
                    pending::<()>().await;
                });
                yield_now().await;
            });
        }
        shut_down(runtime);
        assert_eq!(alive.get(), 0);
    });
}

/// Tasks that yield go on, and tasks behind them are stolen.
#[test]
fn shuttle_tasks_yield_and_steal() {
    explore(|| {
        let runtime = runtime(3);
        let turns = Arc::new(AtomicUsize::new(0));
        runtime.block_on(async {
            let yields = |turns: Arc<AtomicUsize>| async move {
                for _ in 0..3 {
                    yield_now().await;
                    turns.fetch_add(1, Relaxed);
                }
            };
            let spawner = spawn({
                let turns = turns.clone();
                async move { (0..4).map(|_| spawn(yields(turns.clone()))).collect::<Vec<_>>() }
            });
            for task in spawner.await.unwrap() {
                task.await.unwrap();
            }
        });
        assert_eq!(turns.load(Relaxed), 12);
        shut_down(runtime);
    });
}

/// An aborted task ends, however far it had got, and its `JoinHandle` reports it.
#[test]
fn shuttle_tasks_abort() {
    explore(|| {
        let runtime = runtime(2);
        let alive = Alive::default();
        let tasks = [alive.count(), alive.count()].map(|counted| {
            runtime.spawn(async move {
                let _counted = counted;
                yield_now().await;
                pending::<()>().await;
            })
        });
        let handle = tasks[0].abort_handle();
        let aborting = shuttle::thread::spawn(move || handle.abort());
        tasks[1].abort();
        for task in tasks {
            assert!(runtime.block_on(task).unwrap_err().is_cancelled());
        }
        aborting.join().unwrap();
        assert_eq!(alive.get(), 0);
        shut_down(runtime);
    });
}
