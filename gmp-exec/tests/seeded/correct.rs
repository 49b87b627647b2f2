//! Programs without a fault: no seed may find any.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex as StdMutex};
use std::task::{Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::task::{JoinSet, coop, spawn_blocking, yield_now};
use gmp_exec::{spawn, time};
use tokio::sync::{Mutex as Lock, Notify, Semaphore, mpsc, watch};

use crate::child::run;
use crate::planted::{check_budget, on_one_thread, on_two_workers};

pub(crate) const ALL: &[(&str, fn())] = &[
    ("correct", correct),
    ("locks_in_one_order", locks_in_one_order),
    ("notified_after_the_check", notified_after_the_check),
    ("limits_that_are_kept", limits_that_are_kept),
    ("cancelled_receivers", cancelled_receivers),
    ("threads_that_wait", threads_that_wait),
    ("spinning_tasks", spinning_tasks),
    ("beside_a_spinner", beside_a_spinner),
];

/// Locks, channels and timers.
pub(crate) fn correct() {
    let begun = Instant::now();
    on_two_workers(async {
        let (value, count) = (Arc::new(Lock::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sender, mut receiver) = mpsc::channel(1);
        for _ in 0..3 {
            let (value, count, sender) = (value.clone(), count.clone(), sender.clone());
            spawn(async move {
                for _ in 0..3 {
                    check_budget().await;
                    *value.lock().await += 1;
                    count.fetch_add(1, SeqCst);
                    sender.send(()).await.unwrap();
                    time::sleep(Duration::from_millis(10)).await;
                }
            });
        }
        drop(sender);
        let mut received = 0;
        while time::timeout(Duration::from_secs(10), receiver.recv()).await.unwrap().is_some() {
            received += 1;
        }
        assert_eq!((received, *value.lock().await, count.load(SeqCst)), (9, 9, 9));
        poll_fn(|cx| {
            ready!(coop::poll_proceed(cx)).made_progress();
            Poll::Ready(())
        })
        .await;
    });
    assert!(begun.elapsed() >= Duration::from_millis(30));
}

pub(crate) fn locks_in_one_order() {
    on_two_workers(async {
        let (a, b, permits) = (Arc::new(Lock::new(0)), Arc::new(Lock::new(0)), Arc::new(Semaphore::new(2)));
        let mut tasks = JoinSet::new();
        for _ in 0..4 {
            let (a, b, permits) = (a.clone(), b.clone(), permits.clone());
            tasks.spawn(async move {
                let _both = permits.acquire_many(2).await.unwrap();
                let mut a = a.lock().await;
                check_budget().await;
                let mut b = b.lock().await;
                (*a, *b) = (*a + 1, *b + 1);
            });
        }
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        assert_eq!((*a.lock().await, *b.lock().await), (4, 4));
    });
}

/// The waiter is registered before the check.
fn notified_after_the_check() {
    on_two_workers(async {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        let waiter = shared.clone();
        let waiting = spawn(async move {
            let notified = waiter.1.notified();
            if !waiter.0.load(SeqCst) {
                check_budget().await;
                notified.await;
            }
        });
        spawn_blocking(move || {
            shared.0.store(true, SeqCst);
            shared.1.notify_waiters();
        })
        .await
        .unwrap();
        waiting.await.unwrap();
    });
}

/// Timeouts that leave room for a computer which is busy.
fn limits_that_are_kept() {
    on_one_thread(async {
        let (sender, mut receiver) = watch::channel(0);
        let watching = spawn(async move {
            while time::timeout(Duration::from_millis(200), receiver.changed()).await.unwrap().is_ok() {}
            *receiver.borrow()
        });
        for number in 1..=20 {
            time::sleep(Duration::from_millis(50)).await;
            sender.send(number).unwrap();
        }
        drop(sender);
        assert_eq!(watching.await.unwrap(), 20);
    });
}

/// Every message is received, although receivers give up again and again.
fn cancelled_receivers() {
    on_two_workers(async {
        let (sender, receiver) = mpsc::channel(2);
        let (receiver, received) = (Arc::new(Lock::new(receiver)), Arc::new(AtomicU32::new(0)));
        let mut tasks = JoinSet::new();
        for _ in 0..2 {
            let (receiver, received) = (receiver.clone(), received.clone());
            tasks.spawn(async move {
                loop {
                    let receive = async { receiver.lock().await.recv().await };
                    match time::timeout(Duration::from_millis(1), receive).await {
                        Ok(Some(())) => drop(received.fetch_add(1, SeqCst)),
                        Ok(None) => return,
                        Err(_) => {}
                    }
                }
            });
        }
        for _ in 0..6 {
            time::sleep(Duration::from_millis(1)).await;
            sender.send(()).await.unwrap();
        }
        drop(sender);
        while let Some(ended) = tasks.join_next().await {
            ended.unwrap();
        }
        assert_eq!(received.load(SeqCst), 6);
    });
}

/// A queue of std's parts, with more threads than room.
fn threads_that_wait() {
    let shared = Arc::new((StdMutex::new((0, 0)), Condvar::new()));
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let shared = shared.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    let state = shared.0.lock().unwrap();
                    let can_go_on = |full: bool| if number % 2 == 0 { full } else { !full };
                    let mut state = shared.1.wait_while(state, |state| can_go_on(state.0 == 1)).unwrap();
                    *state = (1 - state.0, state.1 + 1);
                    shared.1.notify_all();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*shared.0.lock().unwrap(), (0, 12));
}

/// A task that never waits lets threads go on: one that sleeps, and one that reads.
fn spinning_tasks() {
    let (mut reader, mut writer) = UnixStream::pair().unwrap();
    let ended = Arc::new(AtomicU32::new(0));
    let (one, other) = (ended.clone(), ended.clone());
    let sleeping = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        one.fetch_add(1, SeqCst);
    });
    let reading = thread::spawn(move || {
        reader.read_exact(&mut [0]).unwrap();
        other.fetch_add(1, SeqCst);
    });
    on_one_thread(async {
        yield_now().await;
        writer.write_all(b"x").unwrap();
        while ended.load(SeqCst) < 2 {
            yield_now().await;
        }
    });
    [sleeping, reading].into_iter().for_each(|thread| thread.join().unwrap());
}

/// No task is left behind for ever, nor is the future of `block_on`.
fn beside_a_spinner() {
    on_one_thread(async {
        spawn(async {
            loop {
                yield_now().await;
            }
        });
        for _ in 0..3 {
            spawn(yield_now()).await.unwrap();
        }
    });
}

#[test]
fn correct_programs_stay_silent() {
    for (name, _) in ALL {
        for seed in 0..40 {
            let run = run(name, seed);
            assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "{name}, seed {seed}: {run:#?}");
        }
    }
}
