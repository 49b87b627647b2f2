//! hyper-util: the client with a pool, the server for both versions of HTTP, and the graceful
//! shutdown of many connections.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gmp_io::hyper::{GmpExecutor, GmpIo, GmpTimer};
use gmp_io::hyper_util::GmpConnector;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::client::legacy::Client;
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::{Notify, oneshot};

use crate::support::{listen, on_gmp, serve};

type Pool = Client<GmpConnector, Full<Bytes>>;

async fn say_version(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    Ok(Response::new(format!("{:?}", request.version())))
}

/// Serves both versions of HTTP, and counts connections.
async fn serve_auto() -> (SocketAddr, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    let address = serve(move |stream| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move {
            auto::Builder::new(GmpExecutor::new())
                .serve_connection(GmpIo::new(stream), service_fn(say_version))
                .await
                .expect("served")
        }
    });
    (address.await, connections)
}

fn client(idle: Duration, http2: bool) -> Pool {
    Client::builder(GmpExecutor::new())
        .timer(GmpTimer::new())
        .pool_timer(GmpTimer::new())
        .pool_idle_timeout(idle)
        .http2_only(http2)
        .build(GmpConnector::new())
}

async fn get(client: &Pool, address: SocketAddr) -> (StatusCode, String) {
    let uri = format!("http://{address}/").parse().expect("an address");
    let response = client.get(uri).await.expect("a response");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

#[test]
fn one_port_serves_both_versions_of_http() {
    on_gmp(|| async {
        let (address, connections) = serve_auto().await;
        for (http2, version) in [(false, Version::HTTP_11), (true, Version::HTTP_2)] {
            let client = client(Duration::from_secs(60), http2);
            for _ in 0..10 {
                assert_eq!(get(&client, address).await, (StatusCode::OK, format!("{version:?}")));
            }
            // A task of its own returns an HTTP/1 connection to the pool, so the next request may
            // come before that.
            let used_again = async || {
                let before = connections.load(Ordering::Relaxed);
                get(&client, address).await;
                connections.load(Ordering::Relaxed) == before
            };
            while !used_again().await {}
        }
    });
}

#[test]
fn an_http2_connection_is_shared() {
    on_gmp(|| async {
        let (address, connections) = serve_auto().await;
        let client = client(Duration::from_secs(60), true);
        let requests = (0..20).map(|_| get(&client, address));
        for (status, version) in futures::future::join_all(requests).await {
            assert_eq!((status, version.as_str()), (StatusCode::OK, "HTTP/2.0"));
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1);
    });
}

/// The pool uses gmp's timer: a connection that has been idle for too long is not used again.
#[test]
fn an_idle_connection_is_let_go() {
    const IDLE: Duration = Duration::from_millis(50);
    on_gmp(|| async {
        let (address, connections) = serve_auto().await;
        let client = client(IDLE, false);
        get(&client, address).await;
        // A task of its own returns a connection to the pool: the connection may have been idle for
        // less than the time since the response.
        while connections.load(Ordering::Relaxed) == 1 {
            gmp_exec::time::sleep(3 * IDLE).await;
            get(&client, address).await;
        }
        assert_eq!(connections.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn connecting_to_nobody_is_an_error() {
    on_gmp(|| async {
        let (listener, address) = listen().await;
        drop(listener);
        let uri = format!("http://{address}/").parse().expect("an address");
        let error = client(Duration::from_secs(60), false).get(uri).await.expect_err("no server listens");
        assert!(error.is_connect(), "{error:?}");
    });
}

/// Connections in use when the shutdown begins are finished; the shutdown ends with the last of
/// them.
#[test]
fn a_graceful_shutdown_waits_for_every_connection() {
    const CLIENTS: usize = 8;
    on_gmp(|| async {
        let (listener, address) = listen().await;
        let all_begun = Arc::new(tokio::sync::Semaphore::new(0));
        let go_on = Arc::new(Notify::new());
        let (shut_down, shutdown) = oneshot::channel::<()>();

        let (begun, gate) = (all_begun.clone(), go_on.clone());
        let server = gmp_exec::spawn(async move {
            let graceful = GracefulShutdown::new();
            let mut shutdown = std::pin::pin!(shutdown);
            loop {
                let stream = tokio::select! {
                    accepted = listener.accept() => accepted.expect("accepted").0,
                    _ = shutdown.as_mut() => break,
                };
                let (begun, gate) = (begun.clone(), gate.clone());
                let service = service_fn(move |request| {
                    let (begun, gate) = (begun.clone(), gate.clone());
                    async move {
                        let released = gate.notified();
                        begun.add_permits(1);
                        released.await;
                        say_version(request).await
                    }
                });
                let server = auto::Builder::new(GmpExecutor::new());
                let connection = server.serve_connection(GmpIo::new(stream), service).into_owned();
                gmp_exec::spawn(graceful.watch(connection));
            }
            graceful.shutdown().await;
        });

        let clients: Vec<_> = (0..CLIENTS)
            .map(|i| gmp_exec::spawn(async move { get(&client(Duration::from_secs(60), i % 2 == 0), address).await.0 }))
            .collect();
        let _permits = all_begun.acquire_many(CLIENTS as u32).await.expect("open");
        shut_down.send(()).expect("the server runs");
        // The server may or may not have noticed by now: it must wait for the handlers.
        gmp_exec::task::yield_now().await;
        assert!(!server.is_finished());
        go_on.notify_waiters();
        for client in clients {
            assert_eq!(client.await.expect("a client"), StatusCode::OK);
        }
        server.await.expect("a server");
    });
}
