//! The machine of a current-thread runtime is used again by each `block_on`: by that of the same
//! thread, of another one, after a panic, and of several threads at once.

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{BlockedCause, Handle, Runtime, worker_index};
use gmp_exec::task::{block_in_place, spawn, yield_now};
use gmp_exec::time::sleep;

use crate::support::{Flag, Watchdog, alone, compute_for, current, multi, run, wait_until};

/// Waits until another thread has woken it, which does so at the first poll.
async fn woken_by_another_thread() {
    let mut is_woken = None;
    poll_fn(|cx| {
        if let Some(thread) = is_woken.take() {
            let _: thread::Result<()> = thread::JoinHandle::join(thread);
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        is_woken = Some(thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            waker.wake();
        }));
        Poll::Pending
    })
    .await;
}

fn assert_drives(runtime: &Runtime) {
    assert_eq!(worker_index(), Some(0));
    assert_eq!(runtime.metrics().worker_thread_id(0), Some(thread::current().id()));
}

fn on_another_thread<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(f).join().unwrap())
}

#[test]
fn each_thread_that_drives_is_the_machines_thread_and_can_be_woken() {
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let drive = || {
        runtime.block_on(async {
            assert_drives(&runtime);
            woken_by_another_thread().await;
            spawn(woken_by_another_thread()).await.unwrap();
            sleep(Duration::from_millis(1)).await;
            assert_drives(&runtime);
        });
    };
    for _ in 0..3 {
        drive();
        drive();
        on_another_thread(drive);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_report_looks_at_the_thread_that_drives_now() {
    const LONG: Duration = Duration::from_millis(300);
    let _alone = alone();
    let runtime = current().watch_current_thread(true).build().unwrap();
    runtime.block_on(async {});
    on_another_thread(|| {
        runtime.block_on(async { thread::sleep(LONG) });
        runtime.block_on(async { compute_for(LONG) });
    });
    let is_over = || runtime.handle().blocked_report().entries.iter().filter(|entry| entry.under_way == 0).count() == 2;
    wait_until(is_over);
    let mut entries = runtime.handle().blocked_report().entries;
    entries.sort_by_key(|entry| entry.location.line());
    let calls: Vec<_> = entries[0].calls.iter().filter_map(|call| call.name).collect();
    assert!(calls.iter().any(|call| call.contains("nanosleep")), "{}", entries[0]);
    // Where other programs use the cores, the thread may have waited for one.
    assert_ne!(entries[1].cause, BlockedCause::Blocked, "{}", entries[1]);
}

#[test]
fn a_runtime_goes_on_after_a_panic_of_its_root_future() {
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    for _ in 0..3 {
        let task = runtime.spawn(async {
            woken_by_another_thread().await;
            worker_index()
        });
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                yield_now().await;
                panic!("on purpose");
            })
        }));
        assert!(panic.is_err());
        assert_eq!(worker_index(), None);
        assert!(Handle::try_current().is_err());
        assert_eq!(runtime.block_on(task).unwrap(), Some(0));
        runtime.block_on(async { assert_drives(&runtime) });
    }
}

/// Its waker is in a list of the machine, which nobody would look at before the next `block_on`.
#[test]
fn what_has_yielded_in_a_poll_that_panics_is_woken() {
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
    let polls = Arc::new(AtomicUsize::new(0));
    let task = runtime.spawn({
        let (waker, polls) = (waker.clone(), polls.clone());
        poll_fn(move |cx| {
            *waker.lock().unwrap() = Some(cx.waker().clone());
            if polls.fetch_add(1, SeqCst) == 0 { Poll::Pending } else { Poll::Ready(()) }
        })
    });
    let panic = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            yield_now().await;
            let waker = waker.lock().unwrap().take().expect("the task was polled");
            assert!(pin!(yield_now()).poll(&mut Context::from_waker(&waker)).is_pending());
            panic!("on purpose");
        })
    }));
    assert!(panic.is_err());
    runtime.block_on(task).unwrap();
    assert_eq!(polls.load(SeqCst), 2);
}

/// A waker of a future that is done must not make the next one be polled.
#[test]
fn a_waker_of_an_earlier_future_does_not_wake_a_later_one() {
    let runtime = current().build().unwrap();
    let earlier = runtime.block_on(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
    let mut polls = 0;
    runtime.block_on(async {
        let mut end = pin!(spawn(async {
            for _ in 0..10 {
                yield_now().await;
            }
        }));
        poll_fn(|cx| {
            polls += 1;
            earlier.wake_by_ref();
            end.as_mut().poll(cx)
        })
        .await
        .unwrap();
    });
    assert_eq!(polls, 2);
}

#[test]
fn two_runtimes_alternate_inside_a_task_of_a_third() {
    let outer = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&outer);
    let inner = Arc::new([current().build().unwrap(), current().build().unwrap()]);
    let task = {
        let inner = inner.clone();
        async move {
            let outer = Handle::current().id();
            for _ in 0..50 {
                for runtime in &*inner {
                    let tasks = runtime.spawn(async { (Handle::current().id(), worker_index()) });
                    let of_task = block_in_place(|| {
                        runtime.block_on(async {
                            assert_drives(runtime);
                            yield_now().await;
                            tasks.await.unwrap()
                        })
                    });
                    assert_eq!(of_task, (runtime.handle().id(), Some(0)));
                    assert_eq!(Handle::current().id(), outer);
                }
                assert_eq!(spawn(async { Handle::current().id() }).await.unwrap(), outer);
            }
        }
    };
    run(&outer, task);
}

/// Each of the two drives while a thread that its future waits for drives the other.
#[test]
fn a_root_future_waits_for_a_thread_that_drives_another_runtime() {
    let [one, two] = [current().build().unwrap(), current().build().unwrap()];
    let _watchdog = Watchdog::of(&one);
    let nest = |outer: &Runtime, inner: &Runtime| {
        outer.block_on(async {
            on_another_thread(|| {
                inner.block_on(async {
                    assert_eq!(spawn(async { worker_index() }).await.unwrap(), Some(0));
                    assert_drives(inner);
                });
            });
            assert_drives(outer);
            spawn(yield_now()).await.unwrap();
        });
    };
    for _ in 0..20 {
        nest(&one, &two);
        nest(&two, &one);
    }
}

#[test]
fn many_threads_call_block_on_at_once() {
    const ROUNDS: usize = 200;
    let runtime = current().build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let drove = AtomicUsize::new(0);
    let call = |round: usize| {
        runtime.block_on(async {
            if worker_index().is_some() {
                assert_drives(&runtime);
                drove.fetch_add(1, SeqCst);
            }
            match round % 4 {
                0 => {}
                1 => yield_now().await,
                2 => runtime.spawn(async { assert_eq!(worker_index(), Some(0)) }).await.unwrap(),
                _ => woken_by_another_thread().await,
            }
        });
    };
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..ROUNDS).for_each(call));
        }
    });
    assert!(drove.load(SeqCst) > 0);
    assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42);
}

/// The kept machine refers to the runtime.
#[test]
fn a_runtime_that_was_driven_is_freed_when_it_is_dropped() {
    for has_handle in [false, true] {
        let hold = Arc::new(());
        let held = hold.clone();
        let runtime = current().on_thread_park(move || _ = &held).build().unwrap();
        runtime.block_on(spawn_and_wait());
        on_another_thread(|| runtime.block_on(spawn_and_wait()));
        let handle = has_handle.then(|| runtime.handle().clone());
        drop(runtime);
        if let Some(handle) = handle {
            assert_eq!(Arc::strong_count(&hold), 2);
            handle.block_on(async {});
        }
        assert_eq!(Arc::strong_count(&hold), 1, "a handle: {has_handle}");
    }
}

async fn spawn_and_wait() {
    spawn(sleep(Duration::from_millis(1))).await.unwrap();
}

/// The thread that drives frees the machine, which it can't leave there any more.
#[test]
fn a_runtime_that_ends_while_a_thread_drives_is_freed_by_that_thread() {
    let hold = Arc::new(());
    let held = hold.clone();
    let runtime = current().on_thread_park(move || _ = &held).build().unwrap();
    runtime.block_on(async {});
    let (handle, begun, ended) = (runtime.handle().clone(), Flag::new(), Flag::new());
    let (begins, ends) = (begun.clone(), ended.clone());
    let driver = thread::spawn(move || {
        handle.block_on(async {
            drop(spawn(pending::<()>()));
            begins.set();
            ends.wait();
        });
    });
    begun.wait();
    runtime.shutdown_background();
    ended.set();
    driver.join().unwrap();
    assert_eq!(Arc::strong_count(&hold), 1);
}
