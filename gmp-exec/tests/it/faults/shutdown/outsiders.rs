//! Threads outside of the runtime that still use it at its end: their futures fail, or can go on.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use futures::executor;
use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;
use rustix::time::{ClockId, clock_gettime};

use super::Counted;
use crate::faults::{every_runtime, panic_message};
use crate::support::{FOREVER, Flag};

#[test]
fn what_is_spawned_after_shutdown_is_cancelled() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        drop(runtime);
        assert!(executor::block_on(handle.spawn(async { 42 })).unwrap_err().is_cancelled());
        assert!(executor::block_on(handle.spawn_blocking(|| 42)).unwrap_err().is_cancelled());
        assert_eq!(handle.block_on(async { 42 }), 42);
        assert!(handle.block_on(async { spawn(async { 42 }).await }).unwrap_err().is_cancelled());
        let sleeping = panic_message(|| handle.block_on(async { sleep(Duration::from_millis(1)).await }));
        assert_eq!(sleeping, "A Tokio 1.x context was found, but it is being shutdown.");
    }
}

/// A thread is inside `block_on` when the runtime ends. The tasks that it waits for are cancelled,
/// which wakes it.
#[test]
fn a_thread_inside_block_on_is_not_forgotten_at_shutdown() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        let begun = Flag::new();
        let count = Arc::new(AtomicUsize::new(0));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                handle.block_on(async {
                    let tasks: Vec<_> = (0..100).map(|_| spawn(yield_forever(Counted::new(&count)))).collect();
                    let waiting = spawn(pending::<()>());
                    yield_now().await;
                    begun.set();
                    let waited_for = waiting.await.unwrap_err();
                    for task in tasks {
                        assert!(task.await.unwrap_err().is_cancelled());
                    }
                    waited_for.is_cancelled()
                })
            });
            begun.wait();
            drop(runtime);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(count.load(SeqCst), 0);
    }
}

async fn yield_forever(counted: Counted) {
    let _counted = counted;
    loop {
        yield_now().await;
    }
}

/// The same with a future that does not depend on the runtime: the thread sleeps on.
#[test]
fn a_thread_inside_block_on_sleeps_after_shutdown() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        let begun = Flag::new();
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let waiting = {
            let begun = begun.clone();
            thread::spawn(move || {
                handle.block_on(async {
                    begun.set();
                    receive.await.unwrap();
                });
                let used = clock_gettime(ClockId::ThreadCPUTime);
                Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
            })
        };
        begun.wait();
        drop(runtime);
        thread::sleep(Duration::from_millis(300));
        send.send(()).unwrap();
        let used = waiting.join().unwrap();
        assert!(used < Duration::from_millis(100), "the thread used {used:?} for waiting");
    }
}

/// Any thread may await a timer of a runtime. When the runtime ends, the timer panics, as on tokio.
#[test]
fn a_timer_that_is_awaited_elsewhere_ends_with_its_runtime() {
    for runtime in every_runtime() {
        let timer = {
            let _entered = runtime.enter();
            sleep(FOREVER)
        };
        let waiting = thread::spawn(move || panic_message(|| executor::block_on(timer)));
        // After the thread has polled the timer, only the runtime can wake the thread.
        thread::sleep(Duration::from_millis(5));
        drop(runtime);
        assert_eq!(waiting.join().unwrap(), "A Tokio 1.x context was found, but it is being shutdown.");
    }
}
