//! Spawning, joining, aborting.

use std::future::pending;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::{spawn, task};

fn runtimes() -> Vec<Runtime> {
    let multi = |processors| Builder::new_multi_thread().worker_threads(processors).enable_all().build().unwrap();
    let current = Builder::new_current_thread().enable_all().build().unwrap();
    vec![current, multi(1), multi(2), multi(8)]
}

#[test]
fn a_task_gives_its_output() {
    for runtime in runtimes() {
        assert_eq!(runtime.block_on(async { spawn(async { 42 }).await.unwrap() }), 42);
    }
}

#[test]
fn many_tasks_all_finish() {
    for runtime in runtimes() {
        let sum = runtime.block_on(async {
            let handles: Vec<_> = (0..10_000u64).map(|i| spawn(async move { i })).collect();
            let mut sum = 0;
            for handle in handles {
                sum += handle.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 10_000 * 9_999 / 2);
    }
}

#[test]
fn tasks_that_spawn_from_inside_all_finish() {
    for runtime in runtimes() {
        let task = runtime.spawn(async {
            let handles: Vec<_> = (0..5_000).map(|_| spawn(task::yield_now())).collect();
            for handle in handles {
                handle.await.unwrap();
            }
        });
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn a_panic_becomes_a_join_error() {
    for runtime in runtimes() {
        let error = runtime.block_on(spawn_panicking(&runtime)).unwrap_err();
        assert!(error.is_panic());
        assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "boom");
    }
}

fn spawn_panicking(runtime: &Runtime) -> task::JoinHandle<()> {
    runtime.spawn(async { panic!("boom") })
}

#[test]
fn abort_cancels_a_waiting_task() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let handle = spawn(pending::<()>());
            let abort = handle.abort_handle();
            task::yield_now().await;
            assert!(!abort.is_finished());
            abort.abort();
            assert!(handle.await.unwrap_err().is_cancelled());
            assert!(abort.is_finished());
        });
    }
}

#[test]
fn a_dropped_handle_detaches_the_task() {
    for runtime in runtimes() {
        let (send, receive) = tokio::sync::oneshot::channel();
        runtime.block_on(async {
            drop(spawn(async move { send.send(7).unwrap() }));
            assert_eq!(receive.await.unwrap(), 7);
        });
    }
}

/// tokio's current-thread flavour has no LIFO slot; programs and tests rely on the order.
#[gmp_exec::test]
async fn a_current_thread_runtime_runs_tasks_in_the_order_in_which_they_were_spawned() {
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let tasks: Vec<_> = (0..4)
        .map(|number| {
            let order = order.clone();
            gmp_exec::spawn(async move { order.lock().unwrap().push(number) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
}
