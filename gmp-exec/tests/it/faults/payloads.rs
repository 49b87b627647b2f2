//! Panics whose payload panics when it is dropped. Each test has its own process, because such a
//! panic used to abort the process.

use std::future::pending;
use std::mem::ManuallyDrop;
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::Duration;

use futures::executor;
use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{JoinSet, LocalSet, spawn_blocking, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::{every_kind, every_runtime};
use crate::support::{FOREVER, Flag, Watchdog, in_child, multi, run, wait_until};

/// A payload that panics with another such payload when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

/// A waker whose functions all panic with such a payload, except clone.
fn bomb_waker() -> ManuallyDrop<Waker> {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(std::ptr::null(), &VTABLE),
        |_| panic_any(Bomb),
        |_| panic_any(Bomb),
        |_| {
            if !thread::panicking() {
                panic_any(Bomb)
            }
        },
    );
    // SAFETY: the functions ignore the data pointer, so any thread may call any of them any number
    // of times.
    ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) })
}

/// Polls once with that waker.
fn poll_with_bomb<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(&bomb_waker()))
}

fn in_children_of(test: &str, body: impl FnOnce()) {
    in_child(&format!("faults::payloads::{test}"), || {
        let _watchdog = Watchdog::new();
        body();
    });
}

/// Every processor of `runtime` still has a machine.
fn is_unharmed(runtime: &Runtime) {
    let tasks: Vec<_> =
        (0..100).map(|i| runtime.spawn(async move { spawn(async move { i }).await.unwrap() })).collect();
    for (i, task) in tasks.into_iter().enumerate() {
        assert_eq!(run(runtime, task).unwrap(), i);
    }
}

#[test]
fn in_the_waker_of_a_timer() {
    in_children_of("in_the_waker_of_a_timer", || {
        for runtime in every_runtime() {
            let sleep_here = |duration| {
                let _entered = runtime.enter();
                Box::pin(sleep(duration))
            };
            let mut due = sleep_here(Duration::from_millis(1));
            assert!(poll_with_bomb(&mut due).is_pending());
            run(&runtime, async { sleep(Duration::from_millis(2)).await });
            let mut left = sleep_here(FOREVER);
            assert!(poll_with_bomb(&mut left).is_pending());
            is_unharmed(&runtime);
            drop(runtime);
            drop((due, left));
        }
    });
}

#[test]
fn in_the_hooks_of_a_thread() {
    in_children_of("in_the_hooks_of_a_thread", || {
        for builder in every_kind().iter_mut() {
            builder.on_thread_start(|| panic_any(Bomb)).on_thread_stop(|| panic_any(Bomb));
            builder.on_thread_park(|| panic_any(Bomb)).on_thread_unpark(|| panic_any(Bomb));
            let runtime = builder.build().unwrap();
            run(&runtime, async {
                spawn_blocking(|| ()).await.unwrap();
                sleep(Duration::from_millis(1)).await;
            });
            is_unharmed(&runtime);
        }
    });
}

#[test]
fn in_the_name_of_a_thread() {
    in_children_of("in_the_name_of_a_thread", || {
        for builder in every_kind().iter_mut() {
            let runtime = builder.thread_name_fn(|| panic_any(Bomb)).build().unwrap();
            run(&runtime, async { spawn_blocking(|| ()).await.unwrap() });
            is_unharmed(&runtime);
        }
    });
}

#[test]
fn in_the_waker_of_a_local_set() {
    in_children_of("in_the_waker_of_a_local_set", || {
        for runtime in every_runtime() {
            let mut set = LocalSet::new();
            let (send, receive) = oneshot::channel();
            let task = set.spawn_local(runtime.spawn(async { receive.await.unwrap() }));
            assert!(poll_with_bomb(&mut set).is_pending());
            send.send(()).unwrap();
            is_unharmed(&runtime);
            executor::block_on(set.run_until(task)).unwrap().unwrap();
            // Left behind in a set that ends.
            set.spawn_local(pending::<()>());
            assert!(poll_with_bomb(&mut set).is_pending());
            drop(set);
            is_unharmed(&runtime);
        }
    });
}

#[test]
fn in_the_waker_of_a_join_handle() {
    in_children_of("in_the_waker_of_a_join_handle", || {
        for runtime in every_runtime() {
            let proceed = Flag::new();
            let gate = proceed.clone();
            let mut handle = runtime.spawn(async move {
                while !gate.is_set() {
                    yield_now().await;
                }
            });
            assert!(poll_with_bomb(&mut handle).is_pending());
            proceed.set();
            is_unharmed(&runtime);
            run(&runtime, handle).unwrap();
            let mut replaced = runtime.spawn(pending::<()>());
            assert!(poll_with_bomb(&mut replaced).is_pending());
            assert!(poll_with_bomb(&mut replaced).is_pending());
            drop(replaced);
            is_unharmed(&runtime);
        }
    });
}

#[test]
fn in_the_waker_of_a_join_set() {
    in_children_of("in_the_waker_of_a_join_set", || {
        for runtime in every_runtime() {
            let proceed = Flag::new();
            let gate = proceed.clone();
            let mut set = JoinSet::new();
            let task = async move {
                while !gate.is_set() {
                    yield_now().await;
                }
            };
            set.spawn_on(task, runtime.handle());
            assert!(set.poll_join_next(&mut Context::from_waker(&bomb_waker())).is_pending());
            proceed.set();
            is_unharmed(&runtime);
            run(&runtime, async move { set.join_next().await.unwrap().unwrap() });
        }
    });
}

/// Panics when it is dropped, and also when it is polled if the field says so.
struct Explosive {
    in_poll: bool,
}

impl Future for Explosive {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.in_poll { panic_any(Bomb) } else { Poll::Pending }
    }
}

impl Drop for Explosive {
    fn drop(&mut self) {
        panic_any(Bomb);
    }
}

/// No code takes the payload.
#[test]
fn in_tasks_that_are_detached() {
    in_children_of("in_tasks_that_are_detached", || {
        for runtime in every_runtime() {
            for _ in 0..10 {
                drop(runtime.spawn(async { panic_any(Bomb) }));
                drop(runtime.spawn(async { Bomb }));
                drop(runtime.spawn_blocking(|| panic_any(Bomb)));
                drop(runtime.spawn(Explosive { in_poll: true }));
                let aborted = runtime.spawn(Explosive { in_poll: false });
                aborted.abort();
                drop(aborted);
                drop(runtime.spawn(Explosive { in_poll: false }));
                // Dropped when the task is over.
                let finished = runtime.spawn(async { panic_any(Bomb) });
                run(&runtime, yield_now());
                is_unharmed(&runtime);
                wait_until(|| finished.is_finished());
                drop(finished);
            }
            is_unharmed(&runtime);
        }
    });
}

/// The same in a set of tasks, and with a task that awaits a handle and drops the error, which then
/// panics in that task.
#[test]
fn in_tasks_that_are_awaited() {
    in_children_of("in_tasks_that_are_awaited", || {
        let runtime = multi(2).build().unwrap();
        let outer = runtime.spawn(async { drop(spawn(async { panic_any(Bomb) }).await) });
        let error = executor::block_on(outer).unwrap_err();
        std::mem::forget(error.into_panic());
        let mut set = JoinSet::new();
        set.spawn_on(async { panic_any(Bomb) }, runtime.handle());
        run(&runtime, yield_now());
        is_unharmed(&runtime);
        drop(runtime.spawn(async move { drop(set) }));
        is_unharmed(&runtime);
    });
}
