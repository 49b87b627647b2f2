//! What the dump says that a task waits for: tokio's channels and locks in words, with the place
//! where they were created; sockets by their addresses; timers and other tasks by themselves.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use gmp_exec::runtime::{Handle, Resource, TaskInfo, TaskState, WaitsFor};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
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

/// What a task waits for, in words; the place where it was created as the line in this file.
async fn wait_of(future: impl Future<Output = ()> + Send + 'static) -> String {
    let info = info_of(future).await;
    let [wait] = &info.waits_for[..] else { panic!("{info:?}") };
    let text = wait.to_string();
    match text.split_once("tests/it/waits.rs:") {
        Some((before, line)) => format!("{before}{line}"),
        None => text,
    }
}

#[test]
fn a_channel_is_named_with_its_place() {
    on_gmp(|| async {
        let (line, (sender, mut receiver)) = (line!(), mpsc::channel::<u8>(1));
        let expected = format!("to receive from an empty mpsc channel (1 sender) created at {line}");
        assert_eq!(wait_of(async move { _ = receiver.recv().await }).await, expected);
        drop(sender);
        let (line, (_sender, mut receiver)) = (line!(), mpsc::unbounded_channel::<u8>());
        let expected = format!("to receive from an empty mpsc channel (1 sender) created at {line}");
        assert_eq!(wait_of(async move { _ = receiver.recv_many(&mut Vec::new(), 2).await }).await, expected);
        let (line, (sender, _receiver)) = (line!(), mpsc::channel::<u8>(4));
        let _permits = sender.reserve_many(4).await.unwrap();
        let expected = format!("to send into a full mpsc channel (capacity 4) created at {line}");
        let full = sender.clone();
        assert_eq!(wait_of(async move { full.send(2).await.unwrap() }).await, expected);
        let (line, (sender, _receiver)) = (line!(), mpsc::channel::<u8>(1));
        let expected = format!("for the end of all receivers of a channel created at {line}");
        assert_eq!(wait_of(async move { sender.closed().await }).await, expected);
        let (line, (mut sender, receiver)) = (line!(), oneshot::channel::<u8>());
        let expected = format!("for the end of all receivers of a channel created at {line}");
        assert_eq!(wait_of(async move { sender.closed().await }).await, expected);
        drop(receiver);
        let (line, (_sender, receiver)) = (line!(), oneshot::channel::<u8>());
        let expected = format!("to receive from a oneshot channel created at {line}");
        assert_eq!(wait_of(async move { drop(receiver.await) }).await, expected);
        let (line, (sender, mut receiver)) = (line!(), broadcast::channel::<u8>(1));
        let expected = format!("to receive from a broadcast channel created at {line}");
        assert_eq!(wait_of(async move { drop(receiver.recv().await) }).await, expected);
        let mut subscribed = sender.subscribe();
        assert_eq!(wait_of(async move { drop(subscribed.recv().await) }).await, expected);
        let (line, sender) = (line!(), broadcast::Sender::<u8>::new(1));
        let expected = format!("to receive from a broadcast channel created at {line}");
        let mut subscribed = sender.subscribe();
        assert_eq!(wait_of(async move { drop(subscribed.recv().await) }).await, expected);
        let (line, (_sender, mut receiver)) = (line!(), watch::channel(0));
        let expected = format!("for a change of a watch channel created at {line}");
        assert_eq!(wait_of(async move { drop(receiver.changed().await) }).await, expected);
    });
}

#[test]
fn a_lock_is_named_with_its_place() {
    on_gmp(|| async {
        let (line, mutex) = (line!(), Arc::new(Mutex::new(0)));
        let _guard = mutex.clone().lock_owned().await;
        let expected = format!("to lock a tokio Mutex created at {line}");
        assert_eq!(wait_of(async move { drop(mutex.lock().await) }).await, expected);
        let constant_line = line!() + 1;
        static CONSTANT: Mutex<u8> = Mutex::const_new(0);
        let _constant = CONSTANT.lock().await;
        let expected = format!("to lock a tokio Mutex created at {constant_line}");
        assert_eq!(wait_of(async { drop(CONSTANT.lock().await) }).await, expected);
        let by_default = Arc::<Mutex<u8>>::default();
        let _default = by_default.clone().lock_owned().await;
        assert_eq!(wait_of(async move { drop(by_default.lock().await) }).await, "to lock a tokio Mutex");
        let (line, lock) = (line!(), Arc::new(RwLock::new(0)));
        let read = lock.clone().read_owned().await;
        let writes = lock.clone();
        let expected = format!("to write a tokio RwLock created at {line}");
        assert_eq!(wait_of(async move { drop(writes.write().await) }).await, expected);
        drop(read);
        let _write = lock.clone().write_owned().await;
        let expected = format!("to read a tokio RwLock created at {line}");
        assert_eq!(wait_of(async move { drop(lock.read().await) }).await, expected);
        let (line, none) = (line!(), Arc::new(Semaphore::new(2)));
        let expected = format!("to acquire 3 of a tokio Semaphore created at {line}");
        assert_eq!(wait_of(async move { drop(none.acquire_many(3).await) }).await, expected);
        let (line, notify) = (line!(), Arc::new(Notify::new()));
        let expected = format!("for a notification by a tokio Notify created at {line}");
        assert_eq!(wait_of(async move { notify.notified().await }).await, expected);
        let barrier = Arc::new(Barrier::new(2));
        let wait = wait_of(async move { drop(barrier.wait().await) }).await;
        assert!(wait.starts_with("for a change of a watch channel"), "{wait}");
        let (line, cell) = (line!(), Arc::new(OnceCell::<u8>::new()));
        let first = cell.clone();
        let (begins, begun) = oneshot::channel();
        let initialises = async move {
            begins.send(()).unwrap();
            std::future::pending().await
        };
        tokio::spawn(async move { _ = first.get_or_init(|| initialises).await });
        begun.await.unwrap();
        let expected = format!("for the initialisation of a tokio OnceCell created at {line}");
        assert_eq!(wait_of(async move { _ = cell.get_or_init(std::future::pending).await }).await, expected);
    });
}

#[test]
fn timers_sockets_and_tasks_are_named_by_themselves() {
    on_gmp(|| async {
        let timer = wait_of(sleep(Duration::from_secs(1_000))).await;
        assert!(timer.starts_with("for a timer in "), "{timer}");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (fd, address) = (listener.as_raw_fd(), listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let wait = wait_of(async move { drop(listener.accept().await) }).await;
        assert_eq!(wait, format!("for a connection to {address} (fd {fd})"));
        let (mut client, _accepted) = (client.unwrap(), accepted.unwrap());
        let fd = client.as_raw_fd();
        let wait = wait_of(async move { drop(client.read_u8().await) }).await;
        assert_eq!(wait, format!("to read from {address} (fd {fd})"));
        let awaited = tokio::spawn(std::future::pending::<()>());
        let id = awaited.id();
        assert_eq!(wait_of(async move { awaited.await.unwrap() }).await, format!("for task {id}"));
    });
}

/// hyper polls its read side in the poll in which the handler waits. Before, one of the two was
/// shown, at random.
#[test]
fn all_branches_of_a_select_are_named() {
    on_gmp(|| async {
        let mutex = Arc::new(Mutex::new(0));
        let _guard = mutex.clone().lock_owned().await;
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        for _ in 0..20 {
            let (socket, mutex) = (listener.clone(), mutex.clone());
            let info = info_of(async move {
                tokio::select! {
                    _ = mutex.lock() => {}
                    _ = socket.accept() => {}
                    () = sleep(Duration::from_secs(1_000)) => {}
                }
            });
            let info = info.await;
            let has = |is_it: fn(&WaitsFor) -> bool| info.waits_for.iter().filter(|wait| is_it(wait)).count();
            assert_eq!(has(|wait| matches!(wait, WaitsFor::Sync { resource: Resource::Mutex, .. })), 1, "{info:?}");
            assert_eq!(has(|wait| matches!(wait, WaitsFor::Readable(_))), 1, "{info:?}");
            assert_eq!(has(|wait| matches!(wait, WaitsFor::Timer(_))), 1, "{info:?}");
            assert_eq!((info.waits_for.len(), info.waits_for_more), (3, false), "{info:?}");
        }
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
        assert_eq!(info.await.waits_for, []);
    });
}

#[test]
fn a_limit_is_named_after_what_is_limited() {
    on_gmp(|| async {
        let (_sender, mut receiver) = mpsc::channel::<u8>(1);
        let limited = async move { drop(timeout(Duration::from_secs(1_000), receiver.recv()).await) };
        let info = info_of(limited).await;
        let [WaitsFor::Sync { resource: Resource::Receiver, .. }, WaitsFor::Timer(_)] = info.waits_for[..] else {
            panic!("{info:?}")
        };
    });
}
