//! Foreign wakers whose functions panic.

use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

use futures::executor;
use gmp_exec::task::{LocalSet, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::every_runtime;
use crate::support::{FOREVER, Flag, Watchdog, run};

/// A waker whose functions all panic, except clone.
fn hostile_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(std::ptr::null(), &VTABLE),
        |_| panic!("in wake"),
        |_| panic!("in wake_by_ref"),
        |_| {
            if !thread::panicking() {
                panic!("in the waker's drop")
            }
        },
    );
    // SAFETY: the functions ignore the data pointer, so any thread may call any of them any number
    // of times.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

/// Polls once with the hostile waker.
fn poll_hostile<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    let waker = std::mem::ManuallyDrop::new(hostile_waker());
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_waker_that_panics_does_not_hurt_the_task_it_waits_for() {
    for runtime in every_runtime() {
        let proceed = Flag::new();
        let gate = proceed.clone();
        let mut handle = runtime.spawn(async move {
            while !gate.is_set() {
                yield_now().await;
            }
            42
        });
        assert!(poll_hostile(&mut handle).is_pending());
        proceed.set();
        assert_eq!(run(&runtime, handle).unwrap(), 42);
        // Replaced, and dropped with the handle.
        let mut replaced = runtime.spawn(pending::<()>());
        assert!(poll_hostile(&mut replaced).is_pending());
        assert!(poll_hostile(&mut replaced).is_pending());
        drop(replaced);
        let mut left = runtime.spawn(pending::<()>());
        assert!(poll_hostile(&mut left).is_pending());
        drop(runtime);
        assert!(executor::block_on(left).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_waker_that_panics_does_not_hurt_the_timers() {
    for runtime in every_runtime() {
        let sleep_here = |duration| {
            let _entered = runtime.enter();
            Box::pin(sleep(duration))
        };
        let mut due = sleep_here(Duration::from_millis(1));
        assert!(poll_hostile(&mut due).is_pending());
        run(&runtime, async { sleep(Duration::from_millis(2)).await });
        // Fired: the timer has no waker left that could panic here.
        drop(due);
        let mut left = sleep_here(FOREVER);
        assert!(poll_hostile(&mut left).is_pending());
        drop(runtime);
        drop(left);
    }
}

#[test]
fn a_waker_that_panics_does_not_harm_the_thread_that_wakes_a_task_of_a_local_set() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let mut set = LocalSet::new();
        let (send, receive) = oneshot::channel();
        // The end of the other task wakes the local task with this waker. The panic must end
        // neither the local task nor the process.
        let other = runtime.spawn(async { receive.await.unwrap() });
        let task = set.spawn_local(other);
        assert!(poll_hostile(&mut set).is_pending());
        send.send(42).unwrap();
        run(&runtime, yield_now());
        assert_eq!(executor::block_on(set.run_until(task)).unwrap().unwrap(), 42);
        // Woken by a plain thread.
        let (send, receive) = oneshot::channel();
        let task = set.spawn_local(receive);
        assert!(poll_hostile(&mut set).is_pending());
        thread::spawn(move || send.send(42).unwrap()).join().unwrap();
        assert_eq!(executor::block_on(set.run_until(task)).unwrap().unwrap(), 42);
        // Replaced by another waker, without a wake-up.
        set.spawn_local(pending::<()>());
        assert!(poll_hostile(&mut set).is_pending());
        executor::block_on(set.run_until(async {}));
        // Left behind in a set that ends.
        set.spawn_local(pending::<()>());
        assert!(poll_hostile(&mut set).is_pending());
        drop(set);
    }
}
