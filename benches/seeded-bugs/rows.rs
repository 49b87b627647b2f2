//! Published races of crates, each as a small test. The packages `bad` and `fixed` differ in the
//! versions of the crates alone.
#![cfg(test)]

use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use event_listener::Event;
use futures_util::FutureExt;
use tokio::task::yield_now;
use tokio::time::timeout;
use tokio_util::time::DelayQueue;

/// A wake-up that has not come by now will never come.
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
                        tokio::time::sleep(Duration::from_millis(1)).await;
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

/// flume #120: a value is sent and the sender dropped between two looks of a poll.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flume_lost() {
    let (sender, receiver) = flume::unbounded();
    let sending = tokio::spawn(async move { sender.send(1).unwrap() });
    assert_eq!(receiver.recv_async().await, Ok(1));
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

/// futures #2706: a waker is registered while another task polls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn futures_shared() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let shared = async move { receiver.await.unwrap() }.shared();
    let tasks: Vec<_> = (0..3).map(|_| tokio::spawn(timeout(LIMIT, shared.clone()))).collect();
    tokio::spawn(async move { sender.send(()).unwrap() }).await.unwrap();
    for task in tasks {
        task.await.unwrap().expect("a task is not woken");
    }
}
