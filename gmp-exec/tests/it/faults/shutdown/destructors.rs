//! Futures whose destructors use the runtime that ends.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::yield_now;

use super::Counted;
use crate::faults::every_runtime;
use crate::support::{Watchdog, current, multi, run};

/// A future's destructor wakes other futures while it holds a lock that their destructors take,
/// too, as in h2.
#[test]
fn a_wake_under_a_lock_does_not_drop_the_woken_future() {
    struct Shared {
        wakers: std::sync::Mutex<Vec<Waker>>,
    }
    struct Member(Arc<Shared>);
    impl Future for Member {
        type Output = ();

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            self.0.wakers.lock().unwrap().push(cx.waker().clone());
            Poll::Pending
        }
    }
    impl Drop for Member {
        fn drop(&mut self) {
            let wakers = self.0.wakers.lock().unwrap();
            wakers.iter().for_each(Waker::wake_by_ref);
        }
    }

    for runtime in every_runtime() {
        let shared = Arc::new(Shared { wakers: Default::default() });
        let _watchdog = Watchdog::of(&runtime);
        // So many that nested drops would overflow the stack.
        for _ in 0..1000 {
            runtime.spawn(Member(shared.clone()));
        }
        let members = shared.clone();
        runtime.block_on(async move {
            while members.wakers.lock().unwrap().len() < 1000 {
                yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!(Arc::strong_count(&shared), 1);
    }
}

#[test]
fn tasks_that_spawn_in_their_drop_all_end_at_shutdown() {
    for _ in 0..20 {
        for runtime in every_runtime() {
            let count = Arc::new(AtomicUsize::new(0));
            let hydra = |heads| Hydra { heads, handle: runtime.handle().clone(), _counted: Counted::new(&count) };
            (0..50).for_each(|heads| drop(runtime.spawn(live(hydra(heads % 10)))));
            run(&runtime, yield_now());
            (0..50).for_each(|heads| drop(runtime.spawn(live(hydra(heads % 10)))));
            drop(runtime);
            assert_eq!(count.load(SeqCst), 0);
        }
    }
}

/// Spawns another task of the same kind when it is dropped.
struct Hydra {
    heads: usize,
    handle: Handle,
    _counted: Counted,
}

impl Drop for Hydra {
    fn drop(&mut self) {
        if self.heads > 0 {
            let next =
                Hydra { heads: self.heads - 1, handle: self.handle.clone(), _counted: Counted::new(&self._counted.0) };
            self.handle.spawn(live(next));
            if let Ok(current) = Handle::try_current() {
                current.spawn(yield_now());
                drop(current.spawn_blocking(|| ()));
            }
        }
    }
}

async fn live(hydra: Hydra) {
    let _hydra = hydra;
    pending().await
}

#[test]
fn a_runtime_in_a_thread_local_is_dropped_with_its_thread() {
    thread_local!(static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) });
    for make in [|| current().build().unwrap(), || multi(2).build().unwrap()] {
        let (sender, receiver) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            RUNTIME.set(Some(make()));
            // The thread's context is made after the runtime's cell, so it is destroyed before.
            let runtime = make();
            RUNTIME.with_borrow(|kept| {
                kept.as_ref().unwrap().spawn(async move {
                    let _sender = sender;
                    pending::<()>().await;
                })
            });
            runtime.block_on(yield_now());
        });
        thread.join().unwrap();
        assert!(receiver.recv().is_err(), "the task was dropped");
    }
}
