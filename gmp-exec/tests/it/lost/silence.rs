//! A runtime in which nothing happens for longer than the limit panics, and no other does.

use std::future::{Future, pending};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::{LocalSet, spawn_blocking, spawn_local};
use gmp_exec::{spawn, time};
use tokio::sync::{Barrier, Mutex, oneshot};

use crate::support::{Flag, Watchdog, current, multi, panic_message, wait_until};

const LIMIT: Duration = Duration::from_millis(100);

fn builders() -> [Builder; 3] {
    [current(), multi(1), multi(4)]
}

fn with_limit(mut builder: Builder) -> Runtime {
    builder.deadlock_after(LIMIT).build().unwrap()
}

fn deadlock<F: Future>(runtime: &Runtime, future: F) -> String {
    let _watchdog = Watchdog::of(runtime);
    let message = panic_message(|| _ = runtime.block_on(future));
    assert!(message.starts_with("gmp: deadlock: nothing has happened for "), "{message}");
    assert_eq!(runtime.block_on(async { spawn(async { 7 }).await.unwrap() }), 7, "the runtime goes on");
    message
}

async fn lock_both(first: Arc<Mutex<()>>, second: Arc<Mutex<()>>, both: Arc<Barrier>) {
    let _first = first.lock().await;
    both.wait().await;
    let _second = second.lock().await;
}

#[test]
fn two_mutexes_that_are_locked_crosswise_are_a_deadlock() {
    for runtime in builders().map(with_limit) {
        let message = deadlock(&runtime, async {
            let (one, other, both) =
                (Arc::<Mutex<()>>::default(), Arc::<Mutex<()>>::default(), Arc::new(Barrier::new(2)));
            let first = spawn(lock_both(one.clone(), other.clone(), both.clone()));
            let second = spawn(lock_both(other, one, both));
            _ = (first.await, second.await);
        });
        assert!(message.contains("\ngmp: 2 tasks\ngmp:   future of block_on at "), "{message}");
        assert_eq!(message.matches("\ngmp:   1 waiting, spawned at ").count(), 2, "{message}");
        assert_eq!(message.matches("silence.rs:").count(), 3, "{message}");
    }
}

#[test]
fn a_future_that_waits_for_its_own_sender_is_one() {
    for runtime in builders().map(with_limit) {
        let message = deadlock(&runtime, async {
            let (_sender, receiver) = oneshot::channel::<()>();
            receiver.await
        });
        assert!(message.contains("\ngmp: no tasks\ngmp:   future of block_on at "), "{message}");
        assert!(message.ends_with(" waiting\n"), "{message}");
    }
}

#[test]
fn tasks_of_a_set_are_in_the_message() {
    for runtime in builders().map(with_limit) {
        let set = LocalSet::new();
        let message = deadlock(&runtime, set.run_until(async { _ = spawn_local(pending::<()>()).await }));
        assert!(message.contains("\ngmp: 1 task\ngmp:   future of block_on at "), "{message}");
        assert!(message.contains("\ngmp:   1 waiting, spawned at "), "{message}");
    }
}

/// Several times the limit passes, in which only this happens.
const LONG: Duration = Duration::from_millis(350);

#[test]
fn what_waits_for_the_runtime_itself_is_waited_for() {
    for runtime in builders().map(with_limit) {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async { spawn(time::sleep(LONG)).await.unwrap() });
        runtime.block_on(async { time::sleep(LONG).await });
        runtime.block_on(async { spawn_blocking(|| std::thread::sleep(LONG)).await.unwrap() });
        runtime.block_on(async { spawn(async { std::thread::sleep(LONG) }).await.unwrap() });
        runtime
            .block_on(async { spawn(async { gmp_exec::task::blocking(|| std::thread::sleep(LONG)) }).await.unwrap() });
    }
}

/// Each event begins the time anew.
#[test]
fn a_thread_that_wakes_a_task_within_the_limit_is_waited_for() {
    for mut builder in builders() {
        let runtime = builder.deadlock_after(Duration::from_secs(5)).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for _ in 0..100 {
            let (send, receive) = oneshot::channel();
            let thread = std::thread::spawn(move || send.send(()).unwrap());
            runtime.block_on(async { spawn(receive).await.unwrap().unwrap() });
            thread.join().unwrap();
        }
    }
}

#[test]
fn without_a_limit_the_runtime_waits() {
    for mut builder in builders() {
        let runtime = builder.deadlock_after(Duration::ZERO).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let (send, receive) = oneshot::channel();
        let parked = Flag::new();
        let thread = std::thread::spawn({
            let parked = parked.clone();
            move || {
                parked.wait();
                std::thread::sleep(LONG);
                send.send(()).unwrap();
            }
        });
        runtime.block_on(async {
            parked.set();
            receive.await.unwrap();
        });
        thread.join().unwrap();
    }
}

/// Its runtime may end, which wakes the future.
#[test]
fn a_future_in_the_block_on_of_a_handle_is_not_judged() {
    for runtime in builders().map(with_limit) {
        let handle = runtime.handle().clone();
        let guest = std::thread::spawn(move || handle.block_on(async { spawn(pending::<()>()).await }));
        wait_until(|| runtime.metrics().num_alive_tasks() == 1);
        std::thread::sleep(LONG);
        drop(runtime);
        assert!(guest.join().unwrap().unwrap_err().is_cancelled());
    }
}

/// With a paused clock, too: the limit is one of real time.
#[test]
fn a_paused_clock_does_not_pass_for_events() {
    let runtime = current().start_paused(true).deadlock_after(LIMIT).build().unwrap();
    runtime.block_on(async { time::sleep(Duration::from_secs(3_600)).await });
    deadlock(&runtime, pending::<()>());
}

#[gmp_exec::test(deadlock_after = 0.1)]
#[should_panic(expected = "gmp: deadlock: nothing has happened for ")]
async fn a_limit_of_a_test_as_a_number() {
    wait_for_nothing().await;
}

#[gmp_exec::test(deadlock_after = "0.1", leaks = "off")]
#[should_panic(expected = "gmp: deadlock: nothing has happened for ")]
async fn a_limit_of_a_test_as_a_string() {
    wait_for_nothing().await;
}

#[gmp_exec::main(deadlock_after = 1)]
async fn with_a_second() {
    wait_for_nothing().await;
}

/// Woken by a thread that is none of the runtime's, after the limit that the environment has.
#[gmp_exec::main(flavor = "current_thread", deadlock_after = "off")]
async fn without_limit(sender: std::sync::mpsc::Sender<oneshot::Sender<()>>) {
    let (wakes, woken) = oneshot::channel();
    sender.send(wakes).unwrap();
    woken.await.unwrap();
}

async fn wait_for_nothing() {
    let (_sender, receiver) = oneshot::channel::<()>();
    receiver.await.unwrap();
}

#[test]
fn a_program_says_its_limit_in_the_attribute() {
    let _watchdog = Watchdog::new();
    let message = panic_message(with_a_second);
    assert!(message.starts_with("gmp: deadlock: nothing has happened for "), "{message}");
}

#[test]
fn in_a_child_with_a_variable() {
    if std::env::var_os("GMP_DEADLOCK_AFTER").is_none() {
        return;
    }
    let (sender, receiver) = std::sync::mpsc::channel::<oneshot::Sender<()>>();
    let wakes = std::thread::spawn(move || {
        let sender = receiver.recv().unwrap();
        std::thread::sleep(LIMIT * 4);
        sender.send(()).unwrap();
    });
    without_limit(sender);
    wakes.join().unwrap();
}

#[test]
fn the_attribute_comes_before_the_variable() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["lost::silence::in_a_child_with_a_variable", "--exact"]).env("GMP_DEADLOCK_AFTER", "0.1");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
