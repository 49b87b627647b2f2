//! Operations inside of a set, allowed and refused: other sets, the set itself, blocking.

use std::rc::Rc;
use std::time::Duration;

use gmp_exec::task::{self, LocalSet, spawn_local, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::{panic_message, runtimes};
use crate::futures::soon;

#[test]
fn a_set_polled_inside_of_another_sets_task_wakes_both() {
    for runtime in runtimes() {
        let outer = LocalSet::new();
        let sum = outer.block_on(&runtime, async {
            let (to_outer, from_inner) = oneshot::channel();
            let task = spawn_local(async {
                let inner = LocalSet::new();
                inner.spawn_local(async {
                    yield_now().await;
                    // Wakes a task of the outer set while the inner one is current.
                    to_outer.send(1).unwrap();
                    sleep(Duration::from_millis(1)).await;
                });
                inner.await;
                2
            });
            let waiting = spawn_local(async { from_inner.await.unwrap() });
            soon(async { task.await.unwrap() + waiting.await.unwrap() }).await
        });
        assert_eq!(sum, 3);
    }
}

/// A task of the set polls the set.
#[gmp_exec::test]
async fn a_set_can_be_polled_from_inside_of_itself() {
    let set = Rc::new(LocalSet::new());
    let inside = set.clone();
    let task = set.spawn_local(async move {
        let nested = inside.spawn_local(async {
            yield_now().await;
            7
        });
        inside.run_until(nested).await.unwrap()
    });
    assert_eq!(soon(set.run_until(task)).await.unwrap(), 7);
}

#[test]
fn block_in_place_is_refused_inside_of_a_set() {
    let refused = "can call blocking only when running on the multi-threaded runtime";
    for runtime in runtimes() {
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            assert_eq!(panic_message(|| task::block_in_place(|| ())), refused);
            let error = spawn_local(async { task::block_in_place(|| ()) }).await.unwrap_err();
            assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), refused);
        });
        set.spawn_local(async move { assert_eq!(panic_message(|| task::block_in_place(|| ())), refused) });
        runtime.block_on(set);
    }
    runtimes()[1].block_on(async { assert_eq!(task::block_in_place(|| 3), 3) });
}

#[test]
fn blocking_on_another_future_is_refused_inside_of_a_set() {
    let runtime = &runtimes()[1];
    let message = LocalSet::new().block_on(runtime, async { panic_message(|| runtime.block_on(async {})) });
    assert!(message.starts_with("Cannot start a runtime from within a runtime."), "{message}");
}
