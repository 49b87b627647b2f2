//! The ways to spawn tasks in a set, and where the tasks run.

use std::future::ready;
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier};
use std::thread;

use gmp_exec::runtime::Builder;
use gmp_exec::task::{JoinSet, LocalSet};

use crate::futures::soon;

#[gmp_exec::test]
async fn futures_can_be_collected_and_added() {
    let mut set: JoinSet<usize> = (0..3).map(ready).collect();
    set.extend((3..6).map(|number| async move { number }));
    assert_eq!(set.len(), 6);
    assert_eq!(format!("{set:?}"), "JoinSet { len: 6 }");
    let mut outputs = soon(set.join_all()).await;
    outputs.sort_unstable();
    assert_eq!(outputs, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn tasks_are_spawned_on_the_runtime_that_is_named() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let mut set = JoinSet::new();
    let _ = set.spawn_on(async { thread::current().id() }, runtime.handle());
    let here = runtime.block_on(set.join_next()).unwrap().unwrap();
    assert_eq!(here, thread::current().id());

    set.spawn_blocking_on(|| thread::current().id(), runtime.handle());
    let elsewhere = runtime.block_on(set.join_next()).unwrap().unwrap();
    assert_ne!(elsewhere, thread::current().id());
}

#[gmp_exec::test]
async fn blocking_closures_are_joined() {
    let mut set = JoinSet::new();
    let barrier = Arc::new(Barrier::new(4));
    for _ in 0..4 {
        let barrier = Arc::clone(&barrier);
        set.spawn_blocking(move || barrier.wait().is_leader());
    }
    let leaders = soon(set.join_all()).await.into_iter().filter(|&leader| leader).count();
    assert_eq!(leaders, 1);
}

#[gmp_exec::test]
async fn local_tasks_are_joined() {
    let local_set = LocalSet::new();
    let mut set = JoinSet::new();
    let number = std::rc::Rc::new(4);
    let shared = std::rc::Rc::clone(&number);
    set.spawn_local_on(async move { *shared }, &local_set);
    let outputs = local_set.run_until(async move {
        set.spawn_local(async move { *number + 1 });
        soon(set.join_all()).await
    });
    assert_eq!(outputs.await, [4, 5]);
}

#[test]
fn spawning_outside_of_a_runtime_panics() {
    let mut set = JoinSet::new();
    let payload = catch_unwind(AssertUnwindSafe(|| set.spawn(async {}))).unwrap_err();
    let message = payload.downcast::<String>().unwrap();
    assert!(message.contains("there is no reactor running"), "{message}");
    assert!(set.is_empty());
}

/// As on tokio: the set can be moved whatever its outputs are.
#[test]
fn sets_of_pinned_outputs_can_be_moved() {
    fn is_unpin<T: Unpin>() {}
    is_unpin::<JoinSet<PhantomPinned>>();
}
