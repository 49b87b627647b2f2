//! hyper's own connections, in both versions of HTTP: a single connection and its requests.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gmp_io::hyper::{GmpExecutor, GmpIo, GmpTimer};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};

use crate::support::{connect, listen, on_gmp, pair, serve, tells_dropped};

type Body = BoxBody<Bytes, hyper::Error>;

fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed()
}

/// A body that sends data from the channel as it arrives.
fn streamed(mut chunks: mpsc::Receiver<&'static str>) -> Body {
    let frames = futures::stream::poll_fn(move |cx| {
        chunks.poll_recv(cx).map(|chunk| chunk.map(|chunk| Ok(Frame::data(Bytes::from_static(chunk.as_bytes())))))
    });
    BodyExt::boxed(StreamBody::new(frames))
}

fn request(path: &str, body: Body) -> Request<Body> {
    Request::post(format!("http://localhost{path}")).header("host", "localhost").body(body).expect("a request")
}

async fn text(body: Incoming) -> String {
    let bytes = body.collect().await.expect("a body").to_bytes();
    String::from_utf8(bytes.to_vec()).expect("text")
}

async fn echo(request: Request<Incoming>) -> Result<Response<Incoming>, Infallible> {
    Ok(Response::new(request.into_body()))
}

async fn http1_client(address: SocketAddr) -> http1::SendRequest<Body> {
    let (sender, connection) = http1::handshake(GmpIo::new(connect(address).await)).await.expect("a connection");
    gmp_exec::spawn(connection);
    sender
}

async fn http2_client(address: SocketAddr) -> http2::SendRequest<Body> {
    let stream = GmpIo::new(connect(address).await);
    let (sender, connection) = http2::handshake(GmpExecutor::new(), stream).await.expect("a connection");
    gmp_exec::spawn(connection);
    sender
}

async fn serve_http1_echo() -> (SocketAddr, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = connections.clone();
    let address = serve(move |stream| {
        counter.fetch_add(1, Ordering::Relaxed);
        hyper::server::conn::http1::Builder::new()
            .timer(GmpTimer::new())
            .serve_connection(GmpIo::new(stream), service_fn(echo))
    });
    (address.await, connections)
}

fn http2_server() -> hyper::server::conn::http2::Builder<GmpExecutor> {
    let mut server = hyper::server::conn::http2::Builder::new(GmpExecutor::new());
    server.timer(GmpTimer::new()).keep_alive_interval(Duration::from_secs(10));
    server
}

#[test]
fn an_http1_connection_is_kept_alive() {
    on_gmp(|| async {
        let (address, connections) = serve_http1_echo().await;
        let mut client = http1_client(address).await;
        for i in 0..50 {
            client.ready().await.expect("a connection");
            let response = client.send_request(request("/", full(i.to_string()))).await.expect("a response");
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(text(response.into_body()).await, i.to_string());
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1);
    });
}

/// `connection: close` ends the connection, on both sides.
#[test]
fn an_http1_connection_is_closed_when_asked() {
    on_gmp(|| async {
        let (address, _) = serve_http1_echo().await;
        let mut stream = connect(address).await;
        let request = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi";
        stream.write_all(request).await.expect("written");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("read to the end");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
    });
}

/// Bodies are streams in both directions: each chunk is back before the next one is sent.
async fn ping_pong(response: Response<Incoming>, chunks: mpsc::Sender<&'static str>) {
    let mut body = response.into_body();
    for word in ["one", "two", "three"] {
        chunks.send(word).await.expect("the request's body is alive");
        let frame = body.frame().await.expect("not the end").expect("a frame");
        assert_eq!(frame.into_data().expect("data"), word);
    }
    drop(chunks);
    // Only the end follows.
    assert!(body.collect().await.expect("the end").to_bytes().is_empty());
}

#[test]
fn bodies_are_streamed_over_http1() {
    on_gmp(|| async {
        let (address, _) = serve_http1_echo().await;
        let mut client = http1_client(address).await;
        let (chunks, body) = mpsc::channel(1);
        let response = client.send_request(request("/", streamed(body))).await.expect("a response");
        assert_eq!(response.headers()["transfer-encoding"], "chunked");
        ping_pong(response, chunks).await;
    });
}

#[test]
fn bodies_are_streamed_over_http2() {
    on_gmp(|| async {
        let address = serve(|stream| http2_server().serve_connection(GmpIo::new(stream), service_fn(echo))).await;
        let mut client = http2_client(address).await;
        let (chunks, body) = mpsc::channel(1);
        let response = client.send_request(request("/", streamed(body))).await.expect("a response");
        ping_pong(response, chunks).await;
    });
}

/// Requests share a connection without waiting for each other: the server answers the first one
/// only after all the others.
#[test]
fn http2_requests_overtake_each_other() {
    const OTHERS: usize = 64;
    on_gmp(|| async {
        let connections = Arc::new(AtomicUsize::new(0));
        let others_are_done = Arc::new(Notify::new());
        let (counter, gate) = (connections.clone(), others_are_done.clone());
        let address = serve(move |stream| {
            counter.fetch_add(1, Ordering::Relaxed);
            let gate = gate.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                let gate = gate.clone();
                async move {
                    if request.uri().path() == "/first" {
                        gate.notified().await;
                    }
                    echo(request).await
                }
            });
            http2_server().serve_connection(GmpIo::new(stream), service)
        })
        .await;

        let client = http2_client(address).await;
        let ask = |path: &'static str, body: String| {
            let mut client = client.clone();
            gmp_exec::spawn(async move {
                let response = client.send_request(request(path, full(body))).await.expect("a response");
                text(response.into_body()).await
            })
        };
        let first = ask("/first", "first".into());
        let others: Vec<_> = (0..OTHERS).map(|i| ask("/other", i.to_string())).collect();
        for (i, other) in others.into_iter().enumerate() {
            assert_eq!(other.await.expect("a client"), i.to_string());
        }
        assert!(!first.is_finished());
        others_are_done.notify_one();
        assert_eq!(first.await.expect("a client"), "first");
        assert_eq!(connections.load(Ordering::Relaxed), 1);
    });
}

/// A client that gives up on a response cancels the handler, and nothing else on that connection.
#[test]
fn a_cancelled_http2_request_drops_its_handler() {
    on_gmp(|| async {
        let (guard, dropped) = tells_dropped();
        let guard = Arc::new(std::sync::Mutex::new(Some(guard)));
        let begun = Arc::new(Notify::new());
        let handler_begun = begun.clone();
        let address = serve(move |stream| {
            let (guard, begun) = (guard.clone(), handler_begun.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let (guard, begun) = (guard.clone(), begun.clone());
                async move {
                    if request.uri().path() == "/endless" {
                        let _guard = guard.lock().expect("not poisoned").take();
                        begun.notify_one();
                        std::future::pending::<()>().await;
                    }
                    echo(request).await
                }
            });
            http2_server().serve_connection(GmpIo::new(stream), service)
        })
        .await;

        let mut client = http2_client(address).await;
        let endless = client.send_request(request("/endless", full("")));
        tokio::select! {
            _ = endless => panic!("answered"),
            () = begun.notified() => {}
        }
        dropped.await.expect("the handler is gone");

        let response = client.send_request(request("/", full("still here"))).await.expect("a response");
        assert_eq!(text(response.into_body()).await, "still here");
    });
}

/// A graceful shutdown answers the request in progress, refuses the next one, and ends the
/// connection.
#[test]
fn a_graceful_shutdown_finishes_what_was_begun() {
    on_gmp(|| async {
        let (listener, address) = listen().await;
        let (begun, go_on, shut_down) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (handler_begun, handler_goes_on, shut_down_now) = (begun.clone(), go_on.clone(), shut_down.clone());
        let server = gmp_exec::spawn(async move {
            let (stream, _) = listener.accept().await.expect("accepted");
            let service = service_fn(move |request| {
                let (begun, go_on) = (handler_begun.clone(), handler_goes_on.clone());
                async move {
                    begun.notify_one();
                    go_on.notified().await;
                    echo(request).await
                }
            });
            let mut connection = std::pin::pin!(http2_server().serve_connection(GmpIo::new(stream), service));
            tokio::select! {
                _ = connection.as_mut() => panic!("the connection ended before the shutdown"),
                () = shut_down_now.notified() => connection.as_mut().graceful_shutdown(),
            }
            connection.await
        });

        let mut client = http2_client(address).await;
        let mut requests = client.clone();
        let answer = gmp_exec::spawn(async move { requests.send_request(request("/", full("the last"))).await });
        begun.notified().await;
        shut_down.notify_one();
        go_on.notify_one();
        let response = answer.await.expect("a client").expect("a response");
        assert_eq!(text(response.into_body()).await, "the last");
        server.await.expect("a server").expect("a clean end");
        assert!(client.send_request(request("/", full("too late"))).await.is_err());
    });
}

/// hyper's keep-alive pings use gmp's timers: hyper disconnects a silent peer.
#[test]
fn a_silent_http2_peer_is_found_out() {
    on_gmp(|| async {
        let (mut client, server) = pair().await;
        // Sends a preface and empty settings, and nothing more.
        client.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("written");
        client.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.expect("written");
        let connection = hyper::server::conn::http2::Builder::new(GmpExecutor::new())
            .timer(GmpTimer::new())
            .keep_alive_interval(Duration::from_millis(50))
            .keep_alive_timeout(Duration::from_millis(50))
            .serve_connection(GmpIo::new(server), service_fn(echo));
        let error = connection.await.expect_err("no answer");
        assert!(error.is_timeout(), "{error:?}");
    });
}
