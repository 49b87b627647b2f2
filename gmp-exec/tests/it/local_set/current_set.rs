//! The current set, on which `spawn_local` spawns.

use std::pin::pin;
use std::rc::Rc;

use gmp_exec::task::{LocalSet, spawn_local};
use tokio::sync::oneshot;

use super::{panic_message, runtimes};
use crate::futures::{poll_once, soon};

#[test]
fn spawn_local_outside_of_a_set_panics() {
    let message = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
    let outside = || panic_message(|| drop(spawn_local(async {})));
    assert_eq!(outside(), message);
    for runtime in runtimes() {
        runtime.block_on(async {
            assert_eq!(outside(), message);
            let set = LocalSet::new();
            set.run_until(async {}).await;
            assert_eq!(outside(), message);
            let in_a_spawned_task = set.run_until(async {
                let outside = || panic_message(|| drop(spawn_local(async {})));
                gmp_exec::spawn(async move { outside() }).await.unwrap()
            });
            assert_eq!(in_a_spawned_task.await, message);
        });
    }
}

#[test]
fn an_entered_set_is_where_spawn_local_spawns() {
    let (outer, inner) = (LocalSet::new(), LocalSet::new());
    let outer_guard = outer.enter();
    let inner_guard = inner.enter();
    let on_inner = spawn_local(async {});
    drop(inner_guard);
    let on_outer = spawn_local(async {});
    drop(outer_guard);
    panic_message(|| drop(spawn_local(async {})));

    let runtime = &runtimes()[0];
    outer.block_on(runtime, async { soon(on_outer).await.unwrap() });
    assert!(!on_inner.is_finished());
    inner.block_on(runtime, async { soon(on_inner).await.unwrap() });
}

/// The guard outlives the poll in which it was made. Dropping it restores the set that was current
/// then, but must not mark that set as being polled: a wake-up would go to a queue that no poll
/// looks at.
#[gmp_exec::test]
async fn a_guard_that_leaves_the_poll_loses_no_wake_up() {
    let set = Rc::new(LocalSet::new());
    let (trigger, triggered) = oneshot::channel::<()>();
    let other = LocalSet::new();
    let guard = set.run_until(async { other.enter() }).await;
    let task = set.spawn_local(async { triggered.await.unwrap() });
    let mut joined = pin!(set.run_until(task));
    assert!(poll_once(joined.as_mut()).await.is_pending());
    drop(guard);
    trigger.send(()).unwrap();
    soon(joined).await.unwrap();
}
