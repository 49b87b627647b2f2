//! `LocalRuntime`: where local tasks can be spawned, and how they end.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{LocalOptions, LocalRuntime};
use gmp_exec::spawn;
use gmp_exec::task::{spawn_local, yield_now};

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
    const OUTSIDE: &str = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
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
