//! Tasks run on the thread of the set, in the right order, as long as the set is polled.

use std::cell::{Cell, RefCell};
use std::future::ready;
use std::rc::Rc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::task::{self, LocalSet, spawn_local, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::runtimes;
use crate::futures::soon;

#[test]
fn tasks_run_on_the_thread_of_the_set() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let here = thread::current().id();
        let outside = set.spawn_local(async { thread::current().id() });
        let inside = set.block_on(&runtime, async {
            let task = spawn_local(async {
                sleep(Duration::from_millis(1)).await;
                thread::current().id()
            });
            soon(task).await.unwrap()
        });
        assert_eq!(inside, here);
        assert_eq!(runtime.block_on(set.run_until(outside)).unwrap(), here);
    }
}

#[test]
fn a_local_task_can_use_the_runtime() {
    for runtime in runtimes() {
        let sum = LocalSet::new().block_on(&runtime, async {
            let local = spawn_local(async {
                let spawned = gmp_exec::spawn(async { 1 });
                let blocking = task::spawn_blocking(|| 2);
                spawned.await.unwrap() + blocking.await.unwrap()
            });
            soon(local).await.unwrap()
        });
        assert_eq!(sum, 3);
    }
}

#[test]
fn an_awaited_set_is_ready_when_all_tasks_have_ended() {
    for runtime in runtimes() {
        let count = Rc::new(Cell::new(0));
        let set = LocalSet::new();
        for number in 0..100 {
            let count = count.clone();
            set.spawn_local(async move {
                if number % 3 == 0 {
                    sleep(Duration::from_millis(number / 10)).await;
                }
                let nested = count.clone();
                spawn_local(async move { nested.set(nested.get() + 1) });
                count.set(count.get() + 1);
            });
        }
        runtime.block_on(soon(set));
        assert_eq!(count.get(), 200);
    }
}

#[gmp_exec::test]
async fn an_empty_set_is_ready_at_once() {
    assert!(LocalSet::new().now_or_never().is_some());
    assert_eq!(LocalSet::default().run_until(ready(1)).now_or_never(), Some(1));
}

#[gmp_exec::test]
async fn tasks_that_are_left_go_on_at_the_next_poll() {
    let set = LocalSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    let task = set.spawn_local(async { triggered.await.unwrap() });
    set.run_until(yield_now()).await;
    trigger.send(()).unwrap();
    assert!(!task.is_finished());
    soon(set.run_until(task)).await.unwrap();
}

#[test]
fn a_set_needs_no_runtime() {
    let set = LocalSet::new();
    let task = set.spawn_local(async {
        yield_now().await;
        5
    });
    assert_eq!(futures::executor::block_on(set.run_until(task)).unwrap(), 5);
}

#[test]
fn local_tasks_run_in_the_order_in_which_they_were_scheduled() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let set = LocalSet::new();
    for number in 0..200 {
        let order = order.clone();
        set.spawn_local(async move {
            order.borrow_mut().push(number);
            wake_self().await;
            order.borrow_mut().push(1000 + number);
        });
    }
    runtimes()[0].block_on(soon(set));
    assert_eq!(*order.borrow(), (0..200).chain(1000..1200).collect::<Vec<_>>());
}

/// Unlike `yield_now`, which lets all other tasks run first.
async fn wake_self() {
    let mut has_woken = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut has_woken, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[gmp_exec::test]
async fn a_panic_becomes_a_join_error_and_the_set_goes_on() {
    let set = LocalSet::new();
    let error = set.run_until(async { spawn_local(async { panic!("boom") }).await.unwrap_err() }).await;
    assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "boom");
    assert_eq!(set.run_until(async { spawn_local(async { 1 }).await.unwrap() }).await, 1);
}
