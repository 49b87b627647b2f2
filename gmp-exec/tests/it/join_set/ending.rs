//! The end of the set, of its tasks or of the runtime: by drop, abort or panic. Detached tasks go
//! on.

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinSet, yield_now};
use tokio::sync::oneshot;

use super::wait_until;
use crate::futures::soon;

#[gmp_exec::test]
async fn dropping_the_set_aborts_its_tasks() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    for _ in 0..8 {
        let guard = CountDrop(Arc::clone(&dropped));
        set.spawn(async move {
            let _guard = guard;
            pending::<()>().await
        });
    }
    yield_now().await;
    drop(set);
    wait_until(|| dropped.load(Ordering::SeqCst) == 8).await;
}

#[gmp_exec::test]
async fn detached_tasks_go_on_without_the_set() {
    let (trigger, triggered) = oneshot::channel::<()>();
    let (report, reported) = oneshot::channel();
    let mut set = JoinSet::new();
    set.spawn(async move {
        triggered.await.unwrap();
        report.send("still here").unwrap();
    });
    set.detach_all();
    assert!(set.is_empty());
    assert!(set.try_join_next().is_none());
    drop(set);

    trigger.send(()).unwrap();
    assert_eq!(soon(reported).await.unwrap(), "still here");
}

#[gmp_exec::test]
async fn a_detached_task_that_finishes_is_not_joined_in_the_place_of_a_later_one() {
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel();
    let detached = set.spawn(async move { triggered.await.unwrap() });
    set.detach_all();
    // The new task gets the slot of the detached one.
    set.spawn(pending());
    trigger.send("detached").unwrap();
    wait_until(|| detached.is_finished()).await;
    assert!(set.try_join_next().is_none());
    assert_eq!(set.len(), 1);
}

#[gmp_exec::test]
async fn shutdown_waits_until_every_task_has_ended() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    for number in 0..8 {
        let guard = CountDrop(Arc::clone(&dropped));
        set.spawn(async move {
            let _guard = guard;
            assert_ne!(number, 3, "a panic that shutdown ignores");
            pending::<()>().await
        });
    }
    yield_now().await;
    soon(set.shutdown()).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 8);
    assert!(set.is_empty());
}

#[gmp_exec::test]
async fn aborted_tasks_stay_in_the_set_to_be_joined() {
    let mut set = JoinSet::new();
    set.spawn(pending::<()>());
    set.spawn(pending());
    set.abort_all();
    set.abort_all();
    assert_eq!(set.len(), 2);
    for _ in 0..2 {
        assert!(soon(set.join_next()).await.unwrap().unwrap_err().is_cancelled());
    }
    assert!(soon(set.join_next()).await.is_none());
}

#[gmp_exec::test]
async fn a_set_goes_on_after_it_was_aborted() {
    let mut set = JoinSet::new();
    set.spawn(pending());
    set.abort_all();
    set.spawn(async { 5 });
    let mut cancelled = 0;
    let mut outputs = Vec::new();
    while let Some(result) = soon(set.join_next()).await {
        match result {
            Ok(output) => outputs.push(output),
            Err(error) => cancelled += usize::from(error.is_cancelled()),
        }
    }
    assert_eq!((outputs, cancelled), (vec![5], 1));
}

#[gmp_exec::test]
async fn join_all_passes_a_panic_on_and_aborts_the_rest() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    let guard = CountDrop(Arc::clone(&dropped));
    set.spawn(async move {
        let _guard = guard;
        pending::<()>().await
    });
    set.spawn(async { panic!("the reason") });

    let payload = soon(AssertUnwindSafe(set.join_all()).catch_unwind()).await.unwrap_err();
    assert_eq!(*payload.downcast::<&str>().unwrap(), "the reason");
    wait_until(|| dropped.load(Ordering::SeqCst) == 1).await;
}

#[gmp_exec::test]
async fn join_all_panics_on_an_aborted_task() {
    let mut set = JoinSet::new();
    let aborted = set.spawn(pending::<()>());
    aborted.abort();
    let payload = soon(AssertUnwindSafe(set.join_all()).catch_unwind()).await.unwrap_err();
    let message = payload.downcast::<String>().unwrap();
    assert!(message.contains("was cancelled"), "{message}");
}

#[test]
fn a_set_outlives_its_runtime() {
    let runtime = Runtime::new().unwrap();
    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), runtime.handle());
    drop(runtime);
    let result = set.join_next().now_or_never().expect("the runtime's end is the task's end");
    assert!(result.unwrap().unwrap_err().is_cancelled());
}

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
