//! Many tasks at one channel, lock or value: tokio's, which are the same on every side.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, Semaphore, mpsc, watch};

use super::countdown::crowd;
use crate::rt::{Rt, in_task, join_all};

pub(super) const MESSAGES: u32 = 64_000;
pub(super) const LOCKINGS: u32 = 64_000;
pub(super) const WAKES: u32 = WATCHERS * VALUES;
const WATCHERS: u32 = 1_000;
const VALUES: u32 = 20;

/// Many producers send to one consumer.
pub(super) fn fan_in<R: Rt, const PRODUCERS: u32>(rt: &R) -> Duration {
    in_task(rt, async {
        let (sender, receiver) = mpsc::channel(1_024);
        let start = Instant::now();
        for _ in 0..PRODUCERS {
            drop(R::spawn(produce(sender.clone(), MESSAGES / PRODUCERS)));
        }
        drop(sender);
        count(receiver, MESSAGES / PRODUCERS * PRODUCERS).await;
        start.elapsed()
    })
}

/// One task selects between the messages of two producers.
pub(super) fn select<R: Rt>(rt: &R) -> Duration {
    in_task(rt, async {
        let [(one, first), (other, second)] = [mpsc::channel(128), mpsc::channel(128)];
        let start = Instant::now();
        for sender in [one, other] {
            drop(R::spawn(produce(sender, MESSAGES / 2)));
        }
        count_both(first, second).await;
        start.elapsed()
    })
}

async fn produce(sender: mpsc::Sender<u32>, messages: u32) {
    for message in 0..messages {
        sender.send(message).await.expect("the consumer receives until the producers end");
    }
}

async fn count(mut receiver: mpsc::Receiver<u32>, sent: u32) {
    let mut received = 0;
    while receiver.recv().await.is_some() {
        received += 1;
    }
    assert_eq!(received, sent, "messages were lost");
}

async fn count_both(mut first: mpsc::Receiver<u32>, mut second: mpsc::Receiver<u32>) {
    let mut received = 0;
    loop {
        tokio::select! {
            Some(_) = first.recv() => received += 1,
            Some(_) = second.recv() => received += 1,
            else => break,
        }
    }
    assert_eq!(received, MESSAGES, "messages were lost");
}

/// Tasks lock one mutex again and again.
pub(super) fn mutex<R: Rt, const TASKS: u32>(rt: &R) -> Duration {
    let counter = Arc::new(Mutex::new(0_u32));
    crowd(rt, TASKS, move |_, countdown| {
        let counter = counter.clone();
        async move {
            for _ in 0..LOCKINGS / TASKS {
                *counter.lock().await += 1;
            }
            countdown.decrement();
        }
    })
}

/// 64 tasks share 8 permits.
pub(super) fn semaphore<R: Rt>(rt: &R) -> Duration {
    let permits = Arc::new(Semaphore::new(8));
    crowd(rt, 64, move |_, countdown| {
        let permits = permits.clone();
        async move {
            for _ in 0..LOCKINGS / 64 {
                let _permit = permits.acquire().await.expect("the semaphore is not closed");
                R::yield_now().await;
            }
            countdown.decrement();
        }
    })
}

/// A new value wakes 1 000 tasks at once, again and again. The next value comes when all have seen
/// this one.
pub(super) fn broadcast<R: Rt>(rt: &R) -> Duration {
    in_task(rt, async {
        let (value, seen) = watch::channel(0);
        let (report, mut reports) = mpsc::channel(WATCHERS as usize);
        let watchers = (0..WATCHERS).map(|_| R::spawn(watch_values(seen.clone(), report.clone()))).collect();
        let start = Instant::now();
        for number in 1..=VALUES {
            value.send_replace(number);
            for _ in 0..WATCHERS {
                reports.recv().await.expect("each watcher reports each value");
            }
        }
        let elapsed = start.elapsed();
        drop(value);
        join_all::<R>(watchers).await;
        elapsed
    })
}

async fn watch_values(mut seen: watch::Receiver<u32>, report: mpsc::Sender<u32>) {
    while seen.changed().await.is_ok() {
        let number = *seen.borrow_and_update();
        report.send(number).await.expect("the reports are received until the values end");
    }
}
