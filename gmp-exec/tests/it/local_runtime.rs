//! `LocalRuntime`: where local tasks can be spawned, and how they end.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{LocalOptions, LocalRuntime};
use gmp_exec::spawn;
use gmp_exec::task::{LocalSet, spawn_local, yield_now};

use crate::support::{current, every_runtime, multi, panic_message};

fn local() -> LocalRuntime {
    current().build_local(LocalOptions::default()).unwrap()
}

#[test]
fn local_tasks_are_spawned_wherever_their_runtime_is_current() {
    let runtime = local();
    let count = Rc::new(Cell::new(0));
    let add_one = || {
        let count = count.clone();
        async move { count.set(count.get() + 1) }
    };
    let mut tasks = vec![runtime.spawn_local(add_one())];
    {
        let _current = runtime.enter();
        tasks.push(spawn_local(add_one()));
    }
    runtime.block_on(async {
        tasks.push(spawn_local(add_one()));
        for task in tasks.drain(..) {
            task.await.unwrap();
        }
        // A task that is `Send` is on the same thread.
        spawn(async { spawn_local(async { yield_now().await }).await.unwrap() }).await.unwrap();
    });
    assert_eq!(count.get(), 3);
}

#[test]
fn local_tasks_are_alive_tasks_of_their_runtime() {
    let runtime = local();
    let counts = || (runtime.metrics().num_alive_tasks(), runtime.metrics().spawned_tasks_count());
    let task = runtime.spawn_local(pending::<()>());
    assert_eq!(counts(), (1, 1));
    runtime.block_on(async {
        let set = LocalSet::new();
        let _of_no_runtime = set.spawn_local(pending::<()>());
        set.run_until(yield_now()).await;
        drop(spawn(async {}));
        assert_eq!(counts(), (2, 2));
        yield_now().await;
        assert_eq!(counts(), (1, 2));
        task.abort();
        task.await.unwrap_err();
    });
    assert_eq!(counts(), (0, 2));
}

#[test]
fn the_current_local_runtime_is_where_local_tasks_are_spawned() {
    let (a, b) = (local(), local());
    let alive = || [&a, &b].map(|runtime| runtime.metrics().num_alive_tasks());
    a.block_on(async {
        let current_b = b.enter();
        drop(spawn_local(pending::<()>()));
        assert_eq!(alive(), [0, 1]);
        drop(current_b);
        drop(spawn_local(pending::<()>()));
        assert_eq!(alive(), [1, 1]);
        // Also inside of a set.
        LocalSet::new().run_until(async { drop(spawn_local(pending::<()>())) }).await;
        assert_eq!(alive(), [2, 1]);
    });
}

#[test]
fn a_local_task_spawns_none_while_a_runtime_without_local_tasks_is_current() {
    let (local, other) = (local(), current().build().unwrap());
    let panics = || panic_message(|| drop(spawn_local(async {})));
    local.block_on(async {
        let _current = other.enter();
        assert_eq!(panics(), OUTSIDE);
        let set = LocalSet::new();
        set.run_until(async { spawn_local(async {}).await.unwrap() }).await;
    });
}

const OUTSIDE: &str = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";

#[test]
fn local_tasks_are_dropped_with_their_runtime() {
    type End = fn(LocalRuntime);
    let ends: [End; 3] =
        [drop, |runtime| runtime.shutdown_background(), |runtime| runtime.shutdown_timeout(Duration::from_secs(10))];
    for end in ends {
        let runtime = local();
        let held = Rc::new(());
        let task = {
            let held = held.clone();
            runtime.spawn_local(async move {
                pending::<()>().await;
                drop(held);
            })
        };
        runtime.block_on(yield_now());
        end(runtime);
        assert_eq!(Rc::strong_count(&held), 1);
        assert!(current().build().unwrap().block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn local_tasks_need_a_local_runtime_of_this_thread() {
    for runtime in every_runtime() {
        assert_eq!(panic_message(|| runtime.block_on(async { drop(spawn_local(async {})) })), OUTSIDE);
    }
    let runtime = local();
    let handle = runtime.handle().clone();
    let elsewhere = thread::spawn(move || {
        let _current = handle.enter();
        panic_message(|| drop(spawn_local(async {})))
    });
    assert_eq!(
        elsewhere.join().unwrap(),
        "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on"
    );
    assert!(panic_message(|| drop(multi(1).build_local(LocalOptions::default()))).contains("current_thread"));
}
