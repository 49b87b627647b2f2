//! hyper-util's adapters for tokio: `TokioIo`, `TokioExecutor`, `TokioTimer`, and the connector
//! that looks names up.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use compat_tests::DEADLINE;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::support::{listen, on_gmp};

async fn say_version(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    tokio::time::sleep(Duration::from_millis(1)).await;
    Ok(Response::new(format!("{:?}", request.version())))
}

/// A server for both versions of HTTP, which ends when told to, after its connections. It closes a
/// connection, even an idle one of a client's pool, if a request's head doesn't arrive within
/// `patience`.
async fn serve(patience: Duration) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let (listener, address) = listen().await;
    let (stop, mut stopped) = oneshot::channel();
    let serving = tokio::spawn(async move {
        let graceful = GracefulShutdown::new();
        let mut server = auto::Builder::new(TokioExecutor::new());
        server.http1().timer(TokioTimer::new()).header_read_timeout(patience);
        server.http2().timer(TokioTimer::new()).keep_alive_interval(Duration::from_millis(50));
        loop {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.expect("accepted").0,
                _ = &mut stopped => break,
            };
            let connection = server.serve_connection(TokioIo::new(stream), service_fn(say_version)).into_owned();
            tokio::spawn(graceful.watch(connection));
        }
        graceful.shutdown().await;
    });
    (address, stop, serving)
}

fn client(version: Version) -> Client<HttpConnector, Full<Bytes>> {
    let mut builder = Client::builder(TokioExecutor::new());
    builder.timer(TokioTimer::new()).pool_timer(TokioTimer::new()).http2_only(version == Version::HTTP_2);
    builder.build_http()
}

#[test]
fn pools_of_both_versions_are_shared_until_the_graceful_end() {
    on_gmp(|| async {
        let (server, stop, serving) = serve(DEADLINE).await;
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let client = client(version);
            let mut tasks = JoinSet::new();
            for _ in 0..50 {
                let client = client.clone();
                tasks.spawn(async move {
                    let url = format!("http://localhost:{}/", server.port()).parse().expect("an address");
                    let response = client.get(url).await.expect("a response");
                    let body = response.into_body().collect().await.expect("a body").to_bytes();
                    assert_eq!(body, format!("{version:?}"));
                });
            }
            tasks.join_all().await;
        }
        stop.send(()).expect("it serves");
        serving.await.expect("a clean end");
    });
}

/// A silent client is disconnected.
#[test]
fn a_silent_client_is_hung_up_on() {
    on_gmp(|| async {
        let (server, _stop, _serving) = serve(Duration::from_millis(100)).await;
        let mut stream = tokio::net::TcpStream::connect(server).await.expect("connected");
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET / HTTP/1.1\r\n").await.expect("written");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("the end");
    });
}
