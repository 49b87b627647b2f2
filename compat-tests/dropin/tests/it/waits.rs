//! What the dump says that a task waits for: tokio's channels and locks by their place in tokio's
//! code, timers, sockets and other tasks by themselves.

use std::sync::Arc;
use std::time::Duration;

use gmp_exec::runtime::{Handle, TaskInfo, TaskState, WaitsFor};
use tokio::net::TcpListener;
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use crate::support::on_gmp;

/// What the dump says of a task that runs `future`, once the task waits.
async fn info_of(future: impl Future<Output = ()> + Send + 'static) -> TaskInfo {
    let task = tokio::spawn(future);
    let id = task.id();
    let is_it = |info: &TaskInfo| info.id.to_string() == id.to_string() && info.state == TaskState::Waiting;
    loop {
        if let Some(info) = Handle::current().tasks().find(is_it) {
            task.abort();
            return info;
        }
        sleep(Duration::from_millis(1)).await;
    }
}

/// The file of tokio's in which the task waits.
async fn place_of(future: impl Future<Output = ()> + Send + 'static) -> String {
    let info = info_of(future).await;
    let Some(WaitsFor::Place(place)) = info.waits_for else { panic!("{info:?}") };
    place.file().rsplit_once("/src/").unwrap().1.to_owned()
}

#[test]
fn a_channel_is_named_by_its_place() {
    on_gmp(|| async {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        assert_eq!(place_of(async move { _ = receiver.recv().await }).await, "sync/mpsc/chan.rs");
        drop(sender);
        let (sender, _receiver) = mpsc::channel::<u8>(1);
        sender.send(1).await.unwrap();
        assert_eq!(place_of(async move { sender.send(2).await.unwrap() }).await, "sync/batch_semaphore.rs");
        let (_sender, receiver) = oneshot::channel::<u8>();
        assert_eq!(place_of(async move { drop(receiver.await) }).await, "sync/oneshot.rs");
        let (_sender, mut receiver) = broadcast::channel::<u8>(1);
        assert_eq!(place_of(async move { drop(receiver.recv().await) }).await, "sync/broadcast.rs");
        let (_sender, mut receiver) = watch::channel(0);
        assert_eq!(place_of(async move { drop(receiver.changed().await) }).await, "sync/notify.rs");
    });
}

#[test]
fn a_lock_is_named_by_its_place() {
    on_gmp(|| async {
        let mutex = Arc::new(Mutex::new(0));
        let _guard = mutex.clone().lock_owned().await;
        assert_eq!(place_of(async move { drop(mutex.lock().await) }).await, "sync/batch_semaphore.rs");
        let lock = Arc::new(RwLock::new(0));
        let _guard = lock.clone().read_owned().await;
        assert_eq!(place_of(async move { drop(lock.write().await) }).await, "sync/batch_semaphore.rs");
        let none = Arc::new(Semaphore::new(0));
        assert_eq!(place_of(async move { drop(none.acquire().await) }).await, "sync/batch_semaphore.rs");
        let notify = Arc::new(Notify::new());
        assert_eq!(place_of(async move { notify.notified().await }).await, "sync/notify.rs");
        let barrier = Arc::new(Barrier::new(2));
        assert_eq!(place_of(async move { drop(barrier.wait().await) }).await, "sync/notify.rs");
    });
}

#[test]
fn timers_sockets_and_tasks_are_named_by_themselves() {
    on_gmp(|| async {
        let info = info_of(sleep(Duration::from_secs(1_000))).await;
        assert!(matches!(info.waits_for, Some(WaitsFor::Timer(_))), "{info:?}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&listener);
        let info = info_of(async move { drop(listener.accept().await) }).await;
        assert_eq!(info.waits_for, Some(WaitsFor::Readable(fd)));
        let awaited = tokio::spawn(std::future::pending::<()>());
        let id = awaited.id();
        let info = info_of(async move { awaited.await.unwrap() }).await;
        assert_eq!(info.waits_for.unwrap().to_string(), format!("for task {id}"));
    });
}

/// A channel that was ready in the same poll is not what the task waits for.
#[test]
fn a_leaf_that_was_ready_is_not_named() {
    on_gmp(|| async {
        let (sender, mut receiver) = mpsc::channel::<u8>(1);
        sender.send(1).await.unwrap();
        let info = info_of(async move {
            receiver.recv().await.unwrap();
            std::future::pending::<()>().await;
        });
        assert_eq!(info.await.waits_for, None);
    });
}

#[test]
fn a_limit_is_not_named() {
    on_gmp(|| async {
        let (_sender, mut receiver) = mpsc::channel::<u8>(1);
        let limited = async move { drop(timeout(Duration::from_secs(1_000), receiver.recv()).await) };
        let info = info_of(limited).await;
        assert!(matches!(info.waits_for, Some(WaitsFor::Place(_))), "{info:?}");
        assert!(info.waits_for_more);
    });
}
