//! Spawning, joining, aborting.

use std::cell::Cell;
use std::future::pending;
use std::sync::{Arc, Mutex};

use gmp_exec::runtime::{EnterGuard, Runtime};
use gmp_exec::task::JoinHandle;
use gmp_exec::{spawn, task};

use crate::futures::yield_until;
use crate::support::every_runtime;

#[test]
fn a_task_gives_its_output() {
    for runtime in every_runtime() {
        assert_eq!(runtime.block_on(async { spawn(async { 42 }).await.unwrap() }), 42);
    }
}

/// Without optimisation, each call on the way to the task copies what it is given onto the stack: futures of
/// 96 KiB, and such closures, overflowed the 2 MiB of the thread.
#[test]
fn large_futures_and_closures_need_little_of_the_stack() {
    async fn large() -> u8 {
        let bytes = [1; 112 << 10];
        task::yield_now().await;
        bytes[bytes.len() - 1]
    }
    fn closure() -> impl FnOnce() -> u8 + Send {
        let bytes = [1; 112 << 10];
        move || bytes[bytes.len() - 1]
    }
    for runtime in every_runtime() {
        assert_eq!(runtime.block_on(large()), 1);
        assert_eq!(runtime.block_on(runtime.spawn(large())).unwrap(), 1);
        assert_eq!(runtime.block_on(runtime.spawn_blocking(closure())).unwrap(), 1);
        let inside = async {
            let mut set = task::JoinSet::new();
            set.spawn(large());
            set.spawn_blocking(closure());
            let all = set.join_all().await;
            all.len() + usize::from(spawn(large()).await.unwrap())
        };
        assert_eq!(runtime.block_on(runtime.spawn(inside)).unwrap(), 3);
        let set = task::LocalSet::new();
        assert_eq!(set.block_on(&runtime, set.spawn_local(large())).unwrap(), 1);
    }
}

#[test]
fn many_tasks_all_finish() {
    for runtime in every_runtime() {
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
    for runtime in every_runtime() {
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
    for runtime in every_runtime() {
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
    for runtime in every_runtime() {
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
    for runtime in every_runtime() {
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

#[test]
fn an_output_that_is_not_taken_is_dropped_as_the_task() {
    struct Output(Arc<Mutex<Option<task::Id>>>);
    impl Drop for Output {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = task::try_id();
        }
    }
    for runtime in every_runtime() {
        let dropped_by = Arc::new(Mutex::new(None));
        let output = Output(dropped_by.clone());
        let task = runtime.spawn(async move { output });
        let id = task.id();
        runtime.block_on(async { yield_until(|| task.is_finished()).await });
        drop(task);
        assert_eq!(*dropped_by.lock().unwrap(), Some(id));
        assert_eq!(task::try_id(), None);
    }
}

#[test]
fn a_join_handle_is_send_and_sync_if_the_output_is_send() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<JoinHandle<Cell<u8>>>();
    fn is_sync<T: Sync>() {}
    is_sync::<EnterGuard<'static>>();
}
