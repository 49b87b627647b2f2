//! Panics in polls, in the drops of futures, in the drops of outputs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use futures::executor;
use gmp_exec::spawn;
use gmp_exec::task::{spawn_blocking, yield_now};
use gmp_exec::time::sleep;

use super::{every_runtime, is_current, message};
use crate::support::{run, wait_until};

#[test]
fn a_panic_in_a_poll_becomes_a_join_error_wherever_the_poll_is() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let first = spawn(async { panic!("in the first poll") });
            let later = spawn(async {
                yield_now().await;
                sleep(Duration::from_micros(10)).await;
                panic!("in a later poll")
            });
            assert_eq!(message(&*first.await.unwrap_err().into_panic()), "in the first poll");
            assert_eq!(message(&*later.await.unwrap_err().into_panic()), "in a later poll");
            assert!(spawn_blocking(|| panic!("in a closure")).await.unwrap_err().is_panic());
            // No code awaits these.
            (0..100).for_each(|_| drop(spawn(async { panic!("detached") })));
        });
        wait_until(|| runtime.metrics().num_alive_tasks() == 0 || is_current(&runtime));
    }
}

/// Panics when it is dropped, except while another panic unwinds.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("in drop");
        }
    }
}

/// A future that is ready, or never; its own destructor panics.
struct Fragile {
    ready: bool,
    _bomb: PanicsInDrop,
}

impl Fragile {
    fn new(ready: bool) -> Fragile {
        Fragile { ready, _bomb: PanicsInDrop }
    }
}

impl Future for Fragile {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.ready { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn a_panic_in_the_drop_of_a_future_becomes_a_join_error() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let finished = spawn(Fragile::new(true)).await.unwrap_err();
            assert_eq!(message(&*finished.into_panic()), "in drop");
            let waiting = spawn(Fragile::new(false));
            yield_now().await;
            waiting.abort();
            assert_eq!(message(&*waiting.await.unwrap_err().into_panic()), "in drop");
            let never_polled = spawn(Fragile::new(false));
            never_polled.abort();
            assert!(never_polled.await.unwrap_err().is_panic());
        });
        // And at the end of the runtime.
        let left = runtime.spawn(Fragile::new(false));
        drop(runtime.spawn(Fragile::new(false)));
        run(&runtime, yield_now());
        drop(runtime);
        assert!(executor::block_on(left).is_err());
    }
}

#[test]
fn a_panic_in_the_drop_of_an_output_harms_no_task() {
    for runtime in every_runtime() {
        run(&runtime, async {
            // Dropped by the executor, because the handle was dropped.
            drop(spawn(async { PanicsInDrop }));
            let aborted = spawn(async { PanicsInDrop });
            let finished = aborted.abort_handle();
            while !finished.is_finished() {
                yield_now().await;
            }
            // Dropped with the handle: the task has finished, but its output was not taken.
            let untaken = spawn(async { PanicsInDrop });
            while !untaken.is_finished() {
                yield_now().await;
            }
            drop(untaken);
            drop(aborted);
        });
        let late = runtime.spawn(async { PanicsInDrop });
        run(&runtime, yield_now());
        drop(runtime);
        drop(late);
    }
}

#[test]
fn a_future_that_panics_is_dropped_while_its_thread_unwinds() {
    struct Panics(Arc<AtomicBool>);
    impl Future for Panics {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic!("as the test wants it to");
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.store(thread::panicking(), SeqCst);
            panic!("once more");
        }
    }
    for runtime in every_runtime() {
        let was_panicking = Arc::new(AtomicBool::new(false));
        let task = runtime.spawn(Panics(was_panicking.clone()));
        let error = runtime.block_on(task).unwrap_err();
        assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "as the test wants it to");
        assert!(was_panicking.load(SeqCst));
    }
}
