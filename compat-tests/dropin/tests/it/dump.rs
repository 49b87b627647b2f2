//! `Handle::dump`: each future of tokio's at which a task can wait has a stack.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::{JoinSet, spawn_blocking, yield_now};
use tokio::time::{interval, sleep, timeout};

use crate::support::on_gmp;

const LONG: Duration = Duration::from_secs(1_000);

type Waits = Pin<Box<dyn Future<Output = ()> + Send>>;

fn waits(future: impl Future<Output = ()> + Send + 'static) -> Waits {
    Box::pin(future)
}

/// The text of the only task's trace.
async fn trace_of(future: Waits) -> String {
    let task = tokio::spawn(future);
    let mut text = String::new();
    // On a busy computer, a task may not be polled in time.
    for _ in 0..20 {
        let dump = Handle::current().dump().await;
        let traced = dump.tasks().iter().find(|traced| traced.id() == task.id());
        text = traced.map(|traced| traced.trace().to_string()).unwrap_or_default();
        if text.starts_with('╼') {
            break;
        }
    }
    task.abort();
    text
}

async fn assert_stacks(leaves: Vec<(&str, Waits)>) {
    for (name, future) in leaves {
        let trace = trace_of(future).await;
        assert!(trace.starts_with('╼') && trace.contains("tests/it/dump.rs:"), "{name}: {trace}");
    }
}

#[test]
fn channels_and_locks_have_a_stack() {
    on_gmp(|| async {
        let (_mpsc, mut messages) = mpsc::channel::<u8>(1);
        let (full, _full) = mpsc::channel::<u8>(1);
        full.send(1).await.unwrap();
        let (_once, once) = oneshot::channel::<u8>();
        let (_broadcast, mut broadcast) = broadcast::channel::<u8>(1);
        let (_watch, mut changes) = watch::channel(0);
        let (closes, _closes) = watch::channel(0);
        let mutex = Arc::new(Mutex::new(0));
        let _mutex = mutex.clone().lock_owned().await;
        let lock = Arc::new(RwLock::new(0));
        let _lock = lock.clone().read_owned().await;
        let (none, notify, barrier) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()), Arc::new(Barrier::new(2)));
        assert_stacks(vec![
            ("mpsc recv", waits(async move { _ = messages.recv().await })),
            ("mpsc send", waits(async move { full.send(2).await.unwrap() })),
            ("oneshot", waits(async move { drop(once.await) })),
            ("broadcast", waits(async move { drop(broadcast.recv().await) })),
            ("watch changed", waits(async move { drop(changes.changed().await) })),
            ("watch closed", waits(async move { closes.closed().await })),
            ("mutex", waits(async move { drop(mutex.lock().await) })),
            ("rwlock", waits(async move { drop(lock.write().await) })),
            ("semaphore", waits(async move { drop(none.acquire().await) })),
            ("notify", waits(async move { notify.notified().await })),
            ("barrier", waits(async move { drop(barrier.wait().await) })),
        ])
        .await;
    });
}

#[test]
fn timers_and_tasks_have_a_stack() {
    on_gmp(|| async {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        assert_stacks(
            vec![
                ("sleep", waits(sleep(LONG))),
                ("timeout", waits(async { drop(timeout(LONG, sleep(2 * LONG)).await) })),
                (
                    "interval",
                    waits(async {
                        let mut ticks = interval(LONG);
                        ticks.tick().await;
                        ticks.tick().await;
                    }),
                ),
                ("join handle", waits(async { tokio::spawn(std::future::pending::<()>()).await.unwrap() })),
                (
                    "join set",
                    waits(async { drop(JoinSet::from_iter([std::future::pending::<()>()]).join_next().await) }),
                ),
                ("spawn_blocking", waits(async { _ = spawn_blocking(move || ended.recv()).await.unwrap() })),
                (
                    "yield_now",
                    waits(async {
                        loop {
                            yield_now().await;
                        }
                    }),
                ),
            ]
            .into_iter()
            .map(|(name, future)| (name, waits(async move { future.await })))
            .collect(),
        )
        .await;
        drop(end);
    });
}

#[test]
fn sockets_processes_and_signals_have_a_stack() {
    on_gmp(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).await.unwrap();
        let _full = listener.accept().await.unwrap();
        let mut quiet_client = TcpStream::connect(address).await.unwrap();
        let _quiet = listener.accept().await.unwrap();
        while client.try_write(&[0; 1 << 16]).is_ok() {}
        let datagrams = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let quiet = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
        let mut hangups = signal(SignalKind::hangup()).unwrap();
        assert_stacks(vec![
            ("accept", waits(async move { drop(listener.accept().await) })),
            ("write", waits(async move { client.write_all(&[0; 1 << 20]).await.unwrap() })),
            ("read", waits(async move { drop(quiet_client.read(&mut [0; 9]).await) })),
            ("recv_from", waits(async move { drop(datagrams.recv_from(&mut [0; 9]).await) })),
            ("readable", waits(async move { quiet.readable().await.unwrap() })),
            ("wait", waits(async move { drop(child.wait().await) })),
            ("signal", waits(async move { _ = hangups.recv().await })),
        ])
        .await;
    });
}

/// A traced poll does nothing: the message and the connection come after it.
#[test]
fn tasks_go_on_after_a_dump() {
    on_gmp(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, receiver) = oneshot::channel();
        let task = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            receiver.await.unwrap() + byte[0]
        });
        Handle::current().dump().await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        Handle::current().dump().await;
        stream.write_all(&[3]).await.unwrap();
        Handle::current().dump().await;
        sender.send(4).unwrap();
        assert_eq!(task.await.unwrap(), 7);
    });
}
