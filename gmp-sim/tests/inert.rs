//! Hosts in an ordinary run, on real sockets.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::*;

use gmp_sim::{Host, choose, heal, host, is_simulated, partition};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

/// A server that says which start this is.
fn server() -> (Host, SocketAddr) {
    let mut server = Host::new("server");
    let address = SocketAddr::from((server.ip(), 7_000));
    let starts = Arc::new(AtomicUsize::new(0));
    server.start(move || {
        let start = starts.fetch_add(1, Relaxed);
        async move {
            let listener = TcpListener::bind(address).await.unwrap();
            while let Ok((mut stream, _)) = listener.accept().await {
                stream.write_u8(start as u8).await.unwrap();
            }
        }
    });
    (server, address)
}

/// Waits until the server listens.
async fn ask(address: SocketAddr) -> u8 {
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await {
            return stream.read_u8().await.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn hosts_crash_and_start_again() {
    let (mut server, address) = server();
    assert_eq!(ask(address).await, 0);
    server.crash().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens");
    server.restart();
    assert_eq!(ask(address).await, 1);
}

#[tokio::test]
async fn no_way_is_cut() {
    let (server, address) = server();
    let client = Host::new("client");
    partition(&server, &client);
    assert_eq!(ask(address).await, 0);
    heal(&server, &client);
    assert_eq!((is_simulated(), choose(1_000)), (false, 0));
}

#[tokio::test]
async fn tasks_are_dropped_by_a_crash() {
    let (sender, mut receiver) = mpsc::channel::<()>(1);
    let mut host = host("a", move || {
        let sender = sender.clone();
        async move {
            tokio::spawn(async move {
                let _sender = sender;
                std::future::pending::<()>().await;
            });
            std::future::pending().await
        }
    });
    host.crash().await;
    // The closure has a sender, too.
    drop(host);
    assert_eq!(receiver.recv().await, None);
}

#[tokio::test]
#[should_panic(expected = "of the host's")]
async fn a_panic_goes_on_in_the_test() {
    host("a", || async { panic!("of the host's") }).finished().await;
}

#[tokio::test]
async fn a_panic_is_not_lost_with_the_host() {
    let (sender, receiver) = oneshot::channel::<()>();
    let sender = std::sync::Mutex::new(Some(sender));
    let host = host("panics", move || {
        let sender = sender.lock().unwrap().take();
        async move {
            let _sender = sender;
            panic!("of the host's");
        }
    });
    receiver.await.unwrap_err();
    // The thread ends soon after its future has been dropped.
    let dropped = tokio::task::spawn_blocking(|| {
        while !host_has_ended(&host) {
            std::thread::yield_now();
        }
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(host)))
    });
    dropped.await.unwrap().unwrap_err();
}

/// As far as its threads tell.
fn host_has_ended(_: &Host) -> bool {
    std::fs::read_dir("/proc/self/task").unwrap().all(|task| {
        let name = task.and_then(|task| std::fs::read_to_string(task.path().join("comm")));
        name.unwrap_or_default().trim_end() != "panics"
    })
}

#[tokio::test]
#[should_panic(expected = "the host \"a\" is running")]
async fn a_host_runs_once_at_a_time() {
    host("a", std::future::pending).restart();
}

#[test]
#[should_panic(expected = "the host \"a\" was never started")]
fn a_host_needs_a_program() {
    Host::new("a").restart();
}
