//! Which polls and closures a shutdown waits for, how long it waits, and which waiting futures
//! fail.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, LocalSet, block_in_place, spawn_blocking};
use gmp_exec::time::sleep;

use crate::faults::{every_kind, every_runtime, is_current, panic_message};
use crate::support::{FOREVER, Flag, PATIENCE, Watchdog, multi, run, wait_until};

#[test]
fn dropping_a_runtime_waits_for_what_can_not_be_stopped() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            let dropped = Flag::new();
            thread::scope(|scope| {
                let is_dropped = dropped.clone();
                let handle = runtime.handle().clone();
                scope.spawn(move || {
                    drop(runtime);
                    is_dropped.set();
                });
                // The drop has begun.
                wait_until(|| executor::block_on(handle.spawn(async {})).is_err());
                assert!(!dropped.is_set() && !task.is_finished());
                end.set();
            });
            // The drop waited, so the closure has finished.
            executor::block_on(task).unwrap();
        }
    }
}

#[test]
fn shutdown_timeout_gives_up() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            let start = Instant::now();
            runtime.shutdown_timeout(Duration::from_millis(20));
            assert!(start.elapsed() >= Duration::from_millis(20));
            assert!(!task.is_finished());
            end.set();
            executor::block_on(task).unwrap();
        }
    }
}

/// With tokio's text. A limit of zero waits for nothing, so it is allowed.
#[test]
fn shutdown_timeout_refuses_to_block_in_a_task() {
    for outer in every_runtime() {
        let [inner, other] = [every_runtime(), every_runtime()].map(|mut all| all.remove(0));
        outer.block_on(async { other.shutdown_timeout(Duration::ZERO) });
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            outer.block_on(async { inner.shutdown_timeout(Duration::from_millis(10)) });
        }));
        let text = *refused.unwrap_err().downcast::<&str>().unwrap();
        assert!(text.starts_with("Cannot drop a runtime in a context where blocking is not allowed."), "{text}");
    }
}

#[test]
fn shutdown_timeout_does_not_use_up_its_time_for_nothing() {
    for runtime in every_runtime() {
        runtime.spawn(pending::<()>());
        run(&runtime, async { spawn_blocking(|| ()).await.unwrap() });
        let start = Instant::now();
        runtime.shutdown_timeout(FOREVER);
        assert!(start.elapsed() < PATIENCE);
    }
}

#[test]
fn shutdown_background_waits_for_nothing() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            runtime.shutdown_background();
            assert!(!task.is_finished());
            end.set();
            executor::block_on(task).unwrap();
        }
    }
}

#[test]
fn shutdown_background_may_be_called_inside_a_runtime() {
    for outer in every_runtime() {
        for inner in every_runtime() {
            let task = inner.spawn(pending::<()>());
            outer.block_on(async {
                inner.shutdown_background();
                assert!(task.await.unwrap_err().is_cancelled());
            });
        }
    }
    // Also inside of the runtime.
    for processors in [1, 2] {
        let runtime = multi(processors).build().unwrap();
        let (send, receive) = tokio::sync::oneshot::channel::<Runtime>();
        let task = runtime.spawn(async move {
            receive.await.unwrap().shutdown_background();
            42
        });
        send.send(runtime).unwrap();
        assert_eq!(executor::block_on(task).unwrap(), 42);
    }
}

/// A thread is stuck until a task of its own local queue has run. When the runtime ends, that task
/// is cancelled, so that the thread does not stay stuck.
#[test]
fn what_a_stuck_thread_waits_for_is_cancelled_at_shutdown() {
    for runtime_kind in every_kind().iter_mut() {
        for (kind, at_once) in (0..3).flat_map(|kind| [(kind, true), (kind, false)]) {
            let runtime = runtime_kind.build().unwrap();
            if is_current(&runtime) && kind > 0 {
                continue;
            }
            let begun = Flag::new();
            let is_begun = begun.clone();
            let stuck = move || {
                let task = spawn(pending::<()>());
                is_begun.set();
                assert!(executor::block_on(task).unwrap_err().is_cancelled());
            };
            let task = match kind {
                0 => runtime.spawn_blocking(stuck),
                1 => runtime.spawn(async move { stuck() }),
                _ => runtime.spawn(async move { block_in_place(stuck) }),
            };
            if at_once {
                drop(runtime);
            } else {
                begun.wait();
                drop(runtime);
            }
            // Cancelled, or finished after it was stuck.
            executor::block_on(task).map_or_else(|error| assert!(error.is_cancelled(), "{error}"), |()| ());
        }
    }
}

/// The same for a timer in a closure or a section: the timer panics, as on tokio. (The shutdown
/// waits for a poll that waits for a timer, as on tokio: timers end after the last poll.)
#[test]
fn a_stuck_thread_that_waits_for_a_timer_panics_at_shutdown() {
    for runtime_kind in every_kind().iter_mut() {
        let naps: [Nap; 3] = [nap_in_the_runtime, nap_elsewhere, nap_in_a_local_task];
        for stuck in naps {
            for kind in [0, 2] {
                let runtime = runtime_kind.build().unwrap();
                if is_current(&runtime) && kind > 0 {
                    continue;
                }
                let _watchdog = Watchdog::of(&runtime);
                let begun = Flag::new();
                let is_begun = begun.clone();
                let nap = move || panic_message(|| stuck(&is_begun));
                let task = match kind {
                    0 => runtime.spawn_blocking(nap),
                    _ => runtime.spawn(async move { block_in_place(nap) }),
                };
                begun.wait();
                drop(runtime);
                let told = executor::block_on(task).unwrap();
                assert!(told.contains("being shutdown"), "{told}");
            }
        }
    }
}

type Nap = fn(&Flag);

fn nap_in_the_runtime(begun: &Flag) {
    Handle::current().block_on(nap(begun));
}

fn nap_elsewhere(begun: &Flag) {
    executor::block_on(nap(begun));
}

/// A task, but not one of the runtime's.
fn nap_in_a_local_task(begun: &Flag) {
    let begun = begun.clone();
    let set = LocalSet::new();
    let napping = set.spawn_local(async move { nap(&begun).await });
    let error = executor::block_on(set.run_until(napping)).unwrap_err();
    std::panic::resume_unwind(error.into_panic());
}

/// Sets the flag when its timer is set.
async fn nap(begun: &Flag) {
    let mut nap = pin!(sleep(FOREVER));
    poll_fn(|cx| {
        let poll = nap.as_mut().poll(cx);
        begun.set();
        poll
    })
    .await;
}

/// Reports that it has begun, and holds a thread until the flag is set.
fn hold(begun: &Flag, end: &Flag) -> impl FnOnce() + Send + 'static + use<> {
    let (begun, end) = (begun.clone(), end.clone());
    move || {
        begun.set();
        end.wait();
    }
}

/// Starts a task or closure that holds a thread of `runtime` and can't be stopped.
fn start_holding(runtime: &Runtime, kind: usize, begun: &Flag, end: &Flag) -> Option<JoinHandle<()>> {
    let hold = hold(begun, end);
    let task = match kind {
        0 => runtime.spawn_blocking(hold),
        // On the current-thread flavour only closures have threads.
        _ if is_current(runtime) => return None,
        1 => runtime.spawn(async move { hold() }),
        _ => runtime.spawn(async move { block_in_place(hold) }),
    };
    begun.wait();
    Some(task)
}
