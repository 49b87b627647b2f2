//! Published races of crates, each as a small test. The packages `bad` and `fixed` differ in the
//! versions of the crates alone; `half-fixed` has only `h2.rs`, with an h2 between the two.
#![cfg(test)]

mod actors;
mod database;
mod h2;
mod redis;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use event_listener::Event;
use futures_util::FutureExt;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::time::DelayQueue;

/// A wake-up that has not come by now will never come. Tasks are limited from outside: `timeout` polls its
/// future once more when the time is up, which would make up for the wake-up.
const LIMIT: Duration = Duration::from_secs(1);

/// tokio #6751: the removal of the last item wakes nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delay_queue() {
    let mut queue = DelayQueue::new();
    let key = queue.insert((), Duration::from_secs(3600));
    let queue = Arc::new(Mutex::new(queue));
    let polled = queue.clone();
    let empty = tokio::spawn(poll_fn(move |cx| polled.lock().unwrap().poll_expired(cx)));
    queue.lock().unwrap().remove(&key);
    assert!(timeout(LIMIT, empty).await.expect("nobody was woken").unwrap().is_none());
}

/// tokio #8274: an item that is due at once wakes nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delay_queue_reset() {
    let past = Instant::now();
    sleep(Duration::from_millis(2)).await;
    let mut queue = DelayQueue::new();
    let key = queue.insert((), Duration::from_secs(3600));
    let queue = Arc::new(Mutex::new(queue));
    let polled = queue.clone();
    let due = tokio::spawn(poll_fn(move |cx| polled.lock().unwrap().poll_expired(cx)));
    queue.lock().unwrap().reset_at(&key, past);
    assert!(timeout(LIMIT, due).await.expect("nobody was woken").unwrap().is_some());
}

/// tokio #8320: a queue that is cleared wakes nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delay_queue_clear() {
    let mut queue = DelayQueue::new();
    queue.insert((), Duration::from_secs(3600));
    let queue = Arc::new(Mutex::new(queue));
    let polled = queue.clone();
    let empty = tokio::spawn(poll_fn(move |cx| polled.lock().unwrap().poll_expired(cx)));
    queue.lock().unwrap().clear();
    assert!(timeout(LIMIT, empty).await.expect("nobody was woken").unwrap().is_none());
}

/// moka #240: a task waits for the value that it computes itself, in a future that it does not poll.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moka_leader() {
    let cache = moka::future::Cache::new(10);
    let mut value = pin!(cache.get_with(1, async {
        yield_now().await;
        5
    }));
    let again = async {
        sleep(Duration::from_millis(1)).await;
        timeout(LIMIT, cache.get_with(1, async { 5 })).await.expect("nobody computes the value")
    };
    let value = tokio::select! {
        value = &mut value => value,
        () = sleep(Duration::from_millis(1)) => again.await,
    };
    assert_eq!(value, 5);
}

/// flume, iroh #2536: of two tasks that receive, one is not woken for a value that is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flume_asleep() {
    let (sender, receiver) = flume::unbounded();
    let other = receiver.clone();
    let first = tokio::spawn(async move { receiver.recv_async().await });
    let second = tokio::spawn(async move { other.recv_async().await });
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    for task in [first, second] {
        timeout(LIMIT, task).await.expect("a value is there, and the task sleeps").unwrap().unwrap();
    }
}

struct Connections;

#[async_trait]
impl bb8::ManageConnection for Connections {
    type Connection = ();
    type Error = std::io::Error;

    async fn connect(&self) -> Result<(), Self::Error> {
        Ok(())
    }

    async fn is_valid(&self, (): &mut ()) -> Result<(), Self::Error> {
        Ok(())
    }

    fn has_broken(&self, (): &mut ()) -> bool {
        false
    }
}

async fn pool() -> bb8::Pool<Connections> {
    bb8::Pool::builder().max_size(1).connection_timeout(LIMIT).build(Connections).await.unwrap()
}

/// bb8 #122: a connection comes back between "none is idle" and "queue me".
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bb8_returned() {
    let pool = pool().await;
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for _ in 0..2 {
                    let _connection = pool.get().await.expect("a connection is free");
                    yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// bb8 #154: a waiter gives up while the connection comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bb8_gives_up() {
    let pool = pool().await;
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for _ in 0..3 {
                    if let Ok(connection) = timeout(Duration::from_millis(1), pool.get()).await {
                        sleep(Duration::from_millis(1)).await;
                        drop(connection.expect("a connection is free"));
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(pool.get().await.expect("a connection is free"));
}

/// flume #120: a value is sent and the sender dropped between two looks of a poll. That is not the first
/// poll of the future, so something else wakes its task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flume_lost() {
    let (sender, receiver) = flume::unbounded();
    let sending = tokio::spawn(async move { sender.send(1).unwrap() });
    let others = async {
        for _ in 0..3 {
            yield_now().await;
        }
    };
    let (received, ()) = tokio::join!(receiver.recv_async(), others);
    assert_eq!(received, Ok(1));
    sending.await.unwrap();
}

/// event-listener #139: a notification is lost while a listener makes the list.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn event_lost() {
    let shared = Arc::new((AtomicBool::new(false), Event::new()));
    let other = shared.clone();
    let telling = tokio::spawn(async move {
        other.0.store(true, SeqCst);
        other.1.notify(1);
    });
    let waiting = async {
        let listener = shared.1.listen();
        if !shared.0.load(SeqCst) {
            listener.await;
        }
    };
    timeout(LIMIT, waiting).await.expect("the notification is lost");
    telling.await.unwrap();
}

/// futures #2706: a task polls while another one does, and that one is aborted when it is woken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn futures_shared() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let shared = async move { receiver.await.unwrap() }.shared();
    let first = tokio::spawn(shared.clone());
    let second = tokio::spawn(shared);
    sender.send(()).unwrap();
    first.abort();
    timeout(LIMIT, second).await.expect("the task is not woken").unwrap();
}
