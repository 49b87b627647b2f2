//! However busy a set is, all others get their turns: other tasks of the set, tasks of the runtime,
//! timers, wake-ups.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use gmp_exec::task::{self, LocalSet, spawn_local, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::runtimes;
use crate::futures::{CountWakes, soon};

#[test]
fn a_busy_set_does_not_delay_others() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        for _ in 0..100 {
            set.spawn_local(forever_busy());
        }
        set.block_on(&runtime, async {
            let slept = spawn_local(sleep(Duration::from_millis(2)));
            let spawned = gmp_exec::spawn(async {
                for _ in 0..100 {
                    yield_now().await;
                }
                sleep(Duration::from_millis(2)).await;
            });
            soon(async {
                spawned.await.unwrap();
                slept.await.unwrap();
                task::spawn_blocking(|| ()).await.unwrap();
            })
            .await;
        });
    }
}

#[test]
fn a_task_that_is_always_ready_does_not_delay_others() {
    let set = LocalSet::new();
    set.spawn_local(async {
        loop {
            task::consume_budget().await;
        }
    });
    let other = set.spawn_local(yield_now());
    set.block_on(&runtimes()[0], soon(other)).unwrap();
}

#[test]
fn a_poll_of_the_set_polls_a_bounded_number_of_tasks() {
    let polls = Rc::new(Cell::new(0));
    let mut set = pin!(LocalSet::new());
    let counted = polls.clone();
    set.spawn_local(async move {
        loop {
            counted.set(counted.get() + 1);
            yield_now().await;
        }
    });
    let wakes = Arc::new(CountWakes::default());
    let waker = Waker::from(wakes.clone());
    for round in 1..=3 {
        assert!(set.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!((polls.get(), wakes.count()), (61 * round, round));
    }
}

#[test]
fn wake_ups_from_outside_get_through_to_a_busy_set() {
    let set = LocalSet::new();
    for _ in 0..100 {
        set.spawn_local(forever_busy());
    }
    let (mut triggers, mut waiters) = (Vec::new(), Vec::new());
    for _ in 0..1000 {
        let (trigger, triggered) = oneshot::channel::<()>();
        triggers.push(trigger);
        waiters.push(set.spawn_local(async { triggered.await.unwrap() }));
    }
    let sender = thread::spawn(move || triggers.into_iter().for_each(|trigger| trigger.send(()).unwrap()));
    set.block_on(&runtimes()[1], soon(futures::future::join_all(waiters)));
    sender.join().unwrap();
}

async fn forever_busy() {
    loop {
        yield_now().await;
    }
}
