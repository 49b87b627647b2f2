//! Wakers of foreign make that panic in whatever they are asked for.

use super::every_runtime;
use crate::support::{FOREVER, Flag, run};
use futures::executor;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;
use std::future::pending;
use std::pin::Pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

/// A waker that panics in everything it is asked for, except in being cloned.
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
    // SAFETY: the functions ignore the data pointer, so any thread may call any of them any number of times.
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
