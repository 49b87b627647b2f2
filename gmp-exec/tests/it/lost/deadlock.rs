//! A runtime whose tasks and future can't be woken any more panics, and no other does.

use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinHandle, spawn_blocking, yield_now};
use gmp_exec::{spawn, time};
use tokio::sync::oneshot;

use super::observing;
use crate::support::{Flag, Watchdog, current, panic_message, wait_until};

fn watching() -> Runtime {
    let mut builder = current();
    builder.panic_on_deadlock(true);
    observing(builder)
}

fn deadlock(future: impl Future) -> String {
    let runtime = watching();
    let _watchdog = Watchdog::of(&runtime);
    let message = panic_message(|| _ = runtime.block_on(future));
    assert!(message.starts_with("gmp: deadlock: no waker is left of the future in `block_on`, "), "{message}");
    assert_eq!(runtime.block_on(async { spawn(async { 7 }).await.unwrap() }), 7, "the runtime goes on");
    message
}

#[test]
fn a_future_that_nothing_can_wake_is_a_deadlock() {
    assert_eq!(deadlock(pending::<()>()).lines().count(), 1);
}

#[test]
fn a_future_that_awaits_a_lost_task_is_one() {
    let message = deadlock(async { spawn(pending::<()>()).await });
    assert!(message.contains("\ngmp: 1 task can never run again\ngmp:   task "), "{message}");
    assert!(message.ends_with(": no waker is left after 1 poll\n"), "{message}");
}

#[test]
fn tasks_that_await_each_other_are_one() {
    let message = deadlock(async {
        let (give, take) = oneshot::channel::<JoinHandle<()>>();
        let one = spawn(async move { _ = take.await.unwrap().await });
        give.send(spawn(async move { _ = one.await })).unwrap();
        spawn(async { yield_now().await }).await.unwrap();
        pending::<()>().await;
    });
    assert_eq!(message.matches("waits for task ").count(), 2, "{message}");
}

#[test]
fn a_runtime_without_the_option_waits() {
    let runtime = observing(current());
    let waiting = runtime.spawn(pending::<()>());
    let abort = waiting.abort_handle();
    let handle = runtime.handle().clone();
    std::thread::spawn(move || {
        wait_until(|| !handle.lost_tasks().tasks.is_empty());
        abort.abort();
    });
    assert!(runtime.block_on(waiting).unwrap_err().is_cancelled());
}

/// Runs a future that something wakes from outside, once all tasks of the runtime wait.
fn ends<T>(make: impl FnOnce(Flag) -> T, future: impl AsyncFnOnce(T)) {
    let runtime = watching();
    let _watchdog = Watchdog::of(&runtime);
    let go = Flag::new();
    let outside = make(go.clone());
    let parks = {
        let handle = runtime.handle().clone();
        move || handle.metrics().worker_park_count(0)
    };
    let thread = std::thread::spawn(move || {
        wait_until(|| parks() > 0);
        go.set();
    });
    runtime.block_on(future(outside));
    thread.join().unwrap();
}

#[test]
fn a_thread_that_will_send_is_waited_for() {
    ends(
        |go| {
            let (sender, receiver) = oneshot::channel();
            std::thread::spawn(move || {
                go.wait();
                sender.send(()).unwrap();
            });
            receiver
        },
        async |receiver| spawn(receiver).await.unwrap().unwrap(),
    );
}

#[test]
fn a_thread_that_will_abort_is_waited_for() {
    ends(
        |go| {
            let (give, take) = mpsc::channel::<gmp_exec::task::AbortHandle>();
            std::thread::spawn(move || {
                let abort = take.recv().unwrap();
                go.wait();
                abort.abort();
            });
            give
        },
        async |give| {
            let task = spawn(pending::<()>());
            give.send(task.abort_handle()).unwrap();
            assert!(task.await.unwrap_err().is_cancelled());
        },
    );
}

/// The closure has a waker, or none yet.
#[test]
fn a_closure_is_waited_for() {
    ends(|go| go, async |go| spawn_blocking(move || go.wait()).await.unwrap());
}

#[test]
fn a_timer_is_waited_for() {
    let runtime = watching();
    runtime.block_on(async { spawn(time::sleep(Duration::from_millis(5))).await.unwrap() });
    runtime.block_on(async { time::sleep(Duration::from_millis(5)).await });
}

/// Its runtime may end, which wakes the future.
#[test]
fn a_future_in_the_block_on_of_a_handle_is_not_judged() {
    let runtime = watching();
    let handle = runtime.handle().clone();
    let guest = std::thread::spawn(move || handle.block_on(async { spawn(pending::<()>()).await }));
    wait_until(|| !runtime.handle().lost_tasks().tasks.is_empty());
    drop(runtime);
    assert!(guest.join().unwrap().unwrap_err().is_cancelled());
}

/// At each of the many sleeps the runtime looks.
#[test]
fn a_healthy_ping_pong_with_a_thread_is_never_a_deadlock() {
    let runtime = watching();
    let _watchdog = Watchdog::of(&runtime);
    let (to, at) = mpsc::channel::<oneshot::Sender<()>>();
    let thread = std::thread::spawn(move || at.into_iter().for_each(|sender| _ = sender.send(())));
    runtime.block_on(async {
        for _ in 0..10_000 {
            let (sender, receiver) = oneshot::channel();
            let task = spawn(receiver);
            to.send(sender).unwrap();
            task.await.unwrap().unwrap();
        }
    });
    drop(to);
    thread.join().unwrap();
}
