//! Tasks of `LocalSet`s and local runtimes: lost ones are found while the set lives, and are told
//! at the end of the runtime if the set has ended before.

use std::cell::RefCell;
use std::future::{Future, pending, poll_fn};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

use gmp_exec::runtime::{Builder, Handle, Leaks, LocalRuntime, LostTask};
use gmp_exec::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use gmp_exec::{spawn, time};
use tokio::sync::oneshot;

use super::{lost_at_rest, observing_runtimes};
use crate::support::{Watchdog, current, multi, panic_message, wait_until};

#[test]
fn a_lost_task_of_a_set_is_described() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let set = LocalSet::new();
            let line = line!() + 2;
            let inside = set.run_until(async {
                let task = spawn_local(async {
                    yield_now().await;
                    pending::<()>().await;
                });
                let lost = lost_at_rest(1).await;
                assert_eq!(lost.len(), 1, "{lost:?}");
                assert_eq!((lost[0].id, lost[0].polls), (task.id(), 2));
                assert_eq!((lost[0].location.file(), lost[0].location.line()), (file!(), line));
            });
            inside.await;
            // It is still lost, although nothing polls the set.
            assert_eq!(Handle::current().lost_tasks().tasks.len(), 1);
            drop(set);
            assert_eq!(Handle::current().lost_tasks().tasks, []);
        });
    }
}

#[test]
fn tasks_inside_and_outside_of_a_set_that_await_each_other_are_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            let (give, take) = oneshot::channel::<JoinHandle<()>>();
            let outside = spawn(async move { _ = take.await.unwrap().await });
            let outside_id = outside.id();
            let inside = spawn_local(async { _ = outside.await });
            let inside_id = inside.id();
            give.send(inside).unwrap();
            let lost: Vec<LostTask> = lost_at_rest(2).await;
            let of = |id| lost.iter().find(|task| task.id == id).unwrap_or_else(|| panic!("{id} is not in {lost:?}"));
            assert_eq!(lost.len(), 2);
            assert_eq!(of(inside_id).waits_for, [outside_id]);
            assert_eq!(of(outside_id).waits_for, [inside_id]);
        });
    }
}

#[test]
fn tasks_of_a_set_that_something_can_wake_are_not_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            let (send, receive) = oneshot::channel::<u8>();
            let receives = spawn_local(receive);
            let awaits = spawn_local(receives);
            let sleeps = spawn_local(time::sleep(Duration::from_millis(20)));
            let kept = Rc::new(RefCell::new(None::<Waker>));
            let keeps = spawn_local({
                let kept = kept.clone();
                poll_fn(move |cx| match kept.replace(Some(cx.waker().clone())) {
                    None => Poll::Pending,
                    Some(_) => Poll::Ready(()),
                })
            });
            assert_eq!(lost_at_rest(0).await, []);
            send.send(7).unwrap();
            kept.borrow().as_ref().unwrap().wake_by_ref();
            assert_eq!(awaits.await.unwrap().unwrap().unwrap(), 7);
            keeps.await.unwrap();
            sleeps.await.unwrap();
        });
    }
}

/// A task that polls the set that it belongs to is being polled all the time.
#[test]
fn a_task_around_a_nested_poll_of_its_set_is_not_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let set = Rc::new(LocalSet::new());
        set.block_on(&runtime, async {
            let inner = set.clone();
            let outer = spawn_local(async move {
                let in_nested_poll = inner.run_until(async {
                    spawn_local(async { yield_now().await }).await.unwrap();
                    Handle::current().lost_tasks().tasks
                });
                in_nested_poll.await
            });
            assert_eq!(outer.await.unwrap(), []);
        });
    }
}

/// Whether the runtime's end names so many tasks of this file.
fn told(message: &str, count: usize) -> bool {
    message.matches("local_sets.rs:").count() == count && message.contains(": no waker is left after 1 poll\n")
}

#[test]
fn what_is_lost_when_a_set_ends_is_told_at_the_end_of_the_runtime() {
    for mut builder in [current(), multi(2)] {
        let runtime = builder.leaks(Leaks::Deny).build().unwrap();
        runtime.block_on(async {
            let set = LocalSet::new();
            let inside = set.run_until(async {
                gmp_exec::task::Builder::new().name("leaks").spawn_local(pending::<()>()).unwrap();
                spawn_local(async {}).await.unwrap();
            });
            inside.await;
        });
        let message = panic_message(|| drop(runtime));
        assert!(told(&message, 1) && message.contains(r#" "leaks", spawned at "#), "{message}");
    }
}

#[test]
fn a_set_that_is_dropped_outside_of_the_runtime_is_looked_at_too() {
    let runtime = current().leaks(Leaks::Deny).build().unwrap();
    let set = LocalSet::new();
    set.block_on(&runtime, async {
        spawn_local(pending::<()>());
        yield_now().await;
    });
    drop(set);
    assert!(told(&panic_message(|| drop(runtime)), 1));
}

#[test]
fn a_set_that_outlives_the_runtime_is_looked_at_before() {
    let runtime = current().leaks(Leaks::Deny).build().unwrap();
    let set = LocalSet::new();
    set.block_on(&runtime, async {
        spawn_local(pending::<()>());
        yield_now().await;
    });
    assert!(told(&panic_message(|| drop(runtime)), 1));
    drop(set);
}

fn local_runtime() -> LocalRuntime {
    Builder::new_current_thread().enable_all().leaks(Leaks::Deny).build_local(Default::default()).unwrap()
}

#[test]
fn every_way_to_end_a_local_runtime_looks_for_leaks() {
    let leaking = || {
        let runtime = local_runtime();
        runtime.spawn_local(pending::<()>());
        runtime.block_on(yield_now());
        runtime
    };
    assert!(told(&panic_message(|| drop(leaking())), 1));
    assert!(told(&panic_message(|| leaking().shutdown_background()), 1));
    assert!(told(&panic_message(|| leaking().shutdown_timeout(Duration::ZERO)), 1));
}

#[test]
fn a_local_runtime_whose_tasks_end_says_nothing() {
    let runtime = local_runtime();
    let task = runtime.spawn_local(async { time::sleep(Duration::from_millis(1)).await });
    runtime.block_on(task).unwrap();
    // Its timer would wake it.
    runtime.spawn_local(async { time::sleep(Duration::from_secs(3_600)).await });
    runtime.block_on(yield_now());
    drop(runtime);
}

/// A local runtime that panics in a deadlock, and not at its end.
fn watching() -> LocalRuntime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().leaks(Leaks::Warn).panic_on_deadlock(true).build_local(Default::default()).unwrap()
}

fn deadlock<F: Future>(future: F) -> String {
    let runtime = watching();
    panic_message(|| _ = runtime.block_on(future))
}

#[test]
fn a_future_that_waits_for_lost_tasks_of_a_set_is_a_deadlock() {
    let expected = "gmp: deadlock: no waker is left of the future in `block_on`, ";
    let message = deadlock(async { spawn_local(pending::<()>()).await });
    assert!(message.starts_with(expected) && told(&message, 1), "{message}");
    let message = deadlock(async {
        let set = LocalSet::new();
        let inside = set.run_until(async {
            let outside = spawn(pending::<()>());
            spawn_local(async { _ = outside.await }).await.unwrap();
        });
        inside.await;
    });
    assert!(message.starts_with(expected) && message.matches("local_sets.rs:").count() == 2, "{message}");
    assert!(deadlock(pending::<()>()).starts_with(expected));
}

/// Runs a future whose task is aborted, or woken, by a thread once the runtime has nothing to do.
fn ends<T: Send + 'static>(future: impl AsyncFnOnce(std::sync::mpsc::Sender<T>), act: fn(T)) {
    let runtime = watching();
    let (give, take) = std::sync::mpsc::channel();
    let handle = runtime.handle().clone();
    let thread = std::thread::spawn(move || {
        let it = take.recv().unwrap();
        wait_until(|| handle.metrics().worker_park_count(0) > 0);
        act(it);
    });
    runtime.block_on(future(give));
    thread.join().unwrap();
}

/// The set is ready when its last task has ended.
#[test]
fn a_set_whose_last_task_another_thread_aborts_is_waited_for() {
    ends(
        async |give| {
            let set = LocalSet::new();
            give.send(set.spawn_local(pending::<()>())).unwrap();
            set.await;
        },
        |task: JoinHandle<()>| task.abort(),
    );
}

#[test]
fn a_task_of_a_set_that_another_thread_wakes_is_waited_for() {
    ends(
        async |give| {
            let (send, receive) = oneshot::channel();
            give.send(send).unwrap();
            spawn_local(receive).await.unwrap().unwrap();
        },
        |send: oneshot::Sender<()>| send.send(()).unwrap(),
    );
}
