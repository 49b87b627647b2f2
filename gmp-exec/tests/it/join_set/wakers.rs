//! A task that waits for a set is woken, whatever its waker does.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use gmp_exec::task::{AbortHandle, JoinSet};
use tokio::sync::oneshot;

use super::wait_until;
use crate::futures::{CountWakes, soon};

#[gmp_exec::test]
async fn a_task_spawned_after_a_pending_poll_wakes_the_waiting_task() {
    let mut set = JoinSet::new();
    set.spawn(pending());
    let wakes = Arc::new(CountWakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    assert!(set.poll_join_next(&mut cx).is_pending());

    set.spawn(async { "late" });
    wait_until(|| wakes.count() > 0).await;
    assert!(matches!(set.poll_join_next(&mut cx), Poll::Ready(Some(Ok("late")))));
}

#[gmp_exec::test]
async fn only_the_waker_of_the_last_poll_is_woken() {
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn(async move { triggered.await.unwrap() });
    let [first, last] = [(); 2].map(|()| Arc::new(CountWakes::default()));
    for wakes in [&first, &last] {
        let waker = Waker::from(Arc::clone(wakes));
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    }

    trigger.send(()).unwrap();
    wait_until(|| last.count() > 0).await;
    assert_eq!((first.count(), last.count()), (0, 1));
}

/// The waker's drop and wake call back into the set's queue: they abort a task of the set.
#[gmp_exec::test]
async fn wakers_may_wake_the_set_when_they_are_woken_and_dropped() {
    struct AbortsTasks(Mutex<Vec<AbortHandle>>);
    impl AbortsTasks {
        fn abort(&self) {
            self.0.lock().unwrap().iter().for_each(AbortHandle::abort);
        }
    }
    impl Wake for AbortsTasks {
        fn wake(self: Arc<Self>) {
            self.abort();
        }
    }
    impl Drop for AbortsTasks {
        fn drop(&mut self) {
            self.abort();
        }
    }

    let mut set = JoinSet::new();
    let tasks = [(); 3].map(|()| set.spawn(pending::<()>()));
    for task in tasks {
        let waker = Waker::from(Arc::new(AbortsTasks(Mutex::new(vec![task]))));
        // The next round's registration drops this round's waker.
        let _ = set.poll_join_next(&mut Context::from_waker(&waker));
    }
    let mut cancelled = 3 - set.len();
    set.abort_all();
    while let Some(result) = soon(set.join_next()).await {
        assert!(result.unwrap_err().is_cancelled());
        cancelled += 1;
    }
    assert_eq!(cancelled, 3);
}

/// The end of a task wakes the set inside of async-task, which would abort the process on a panic.
#[gmp_exec::test]
async fn a_waker_that_panics_harms_no_task() {
    struct Panics(Arc<CountWakes>);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            Arc::clone(&self.0).wake();
            panic!("woken");
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("dropped");
            }
        }
    }

    let wakes = Arc::new(CountWakes::default());
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn(async move { triggered.await.unwrap() });
    let waker = Waker::from(Arc::new(Panics(Arc::clone(&wakes))));
    assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    catch_unwind(AssertUnwindSafe(|| drop(waker))).unwrap();

    trigger.send(()).unwrap();
    wait_until(|| wakes.count() == 1).await;
    soon(set.join_next()).await.unwrap().unwrap();
}
