//! Handlers that hold their threads. Each has a client that asks again and again.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;

/// A lock is held across slow work, and other handlers wait for it.
pub async fn lock_held() {
    let prices = Arc::new(Mutex::new(7));
    let other = prices.clone();
    let update = move || {
        let mut price = prices.lock().unwrap();
        thread::sleep(Duration::from_millis(80));
        *price += 1;
        async {}
    };
    let read = move || {
        let price = *other.lock().unwrap();
        async move { price.to_string() }
    };
    serve(Router::new().route("/update", get(update)).route("/read", get(read)), &["update", "read"]).await;
}

/// A handler computes.
pub async fn computes() {
    async fn render() -> String {
        let end = Instant::now() + Duration::from_millis(200);
        let mut sum = 0_u64;
        while Instant::now() < end {
            sum = (0..100_000).fold(sum, |sum, n| sum.wrapping_mul(31).wrapping_add(n));
        }
        sum.to_string()
    }
    serve(Router::new().route("/render", get(render)), &["render"]).await;
}

/// A handler connects by a function that blocks, to a server that does not answer.
pub async fn connects() {
    let server = black_hole();
    let audit = move || {
        let _ = TcpStream::connect_timeout(&server, Duration::from_millis(700));
        async {}
    };
    serve(Router::new().route("/audit", get(audit)), &["audit"]).await;
}

/// A handler waits for a future that returns `Pending` and keeps no waker.
pub async fn lose_answer() {
    async fn confirm() -> String {
        poll_fn(|_| Poll::Pending).await
    }
    serve(Router::new().route("/confirm", get(confirm)), &["confirm"]).await;
}

/// A listener whose queue is full: the kernel drops further attempts to connect.
fn black_hole() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(200));
        let _queued: Vec<TcpStream> = std::iter::from_fn(|| connect().ok()).collect();
        let _listener = listener;
        loop {
            thread::park();
        }
    });
    address
}

/// Serves, and asks for each path again and again, from threads of their own.
pub async fn serve(routes: Router, paths: &[&'static str]) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    for path in paths.iter().copied() {
        thread::spawn(move || {
            loop {
                ask(address, path);
                thread::sleep(Duration::from_millis(5));
            }
        });
    }
}

fn ask(address: SocketAddr, path: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: faults\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
}
