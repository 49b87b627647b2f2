//! hyper and axum on gmp. This package's own dependencies leave tokio's feature `rt` off, so there
//! is no tokio runtime that could help.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Path;
use axum::routing::{get, post};
use gmp_io::hyper::{GmpExecutor, GmpIo, GmpTimer};
use gmp_io::net::{TcpListener, TcpStream};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{DEADLINE, listen, on_both};

fn router() -> Router {
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/echo", post(|body: Bytes| async { body }))
        .route("/add/{a}/{b}", get(|Path((a, b)): Path<(u32, u32)>| async move { (a + b).to_string() }))
        .route(
            "/slow",
            get(|| async {
                gmp_exec::time::sleep(Duration::from_millis(20)).await;
                "slow"
            }),
        )
}

/// `patience` is how long a client may take to send the head of a request.
async fn serve_http1(router: Router, patience: Duration) -> SocketAddr {
    let listener = listen().await;
    let address = listener.local_addr().expect("an address");
    let service = TowerToHyperService::new(router);
    accept_each(listener, move |stream| {
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(GmpTimer::new())
            .header_read_timeout(patience)
            .serve_connection(GmpIo::new(stream), service.clone());
        gmp_exec::spawn(connection);
    });
    address
}

async fn serve_http2(router: Router) -> SocketAddr {
    let listener = listen().await;
    let address = listener.local_addr().expect("an address");
    let service = TowerToHyperService::new(router);
    accept_each(listener, move |stream| {
        let connection = hyper::server::conn::http2::Builder::new(GmpExecutor::new())
            .timer(GmpTimer::new())
            .keep_alive_interval(Duration::from_secs(1))
            .serve_connection(GmpIo::new(stream), service.clone());
        gmp_exec::spawn(connection);
    });
    address
}

fn accept_each(listener: TcpListener, serve: impl Fn(TcpStream) + Send + 'static) {
    gmp_exec::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            serve(stream);
        }
    });
}

fn request(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let body = body.into();
    let method = if body.is_empty() { "GET" } else { "POST" };
    Request::builder()
        .method(method)
        .uri(format!("http://localhost{path}"))
        .header("host", "localhost")
        .body(Full::new(body))
        .expect("a request")
}

async fn text(response: hyper::Result<Response<Incoming>>) -> (StatusCode, String) {
    let response = response.expect("a response");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

/// An HTTP/1 client on a new connection.
struct Client(hyper::client::conn::http1::SendRequest<Full<Bytes>>);

impl Client {
    async fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).await.expect("connected");
        let handshake = hyper::client::conn::http1::handshake(GmpIo::new(stream));
        let (sender, connection) = handshake.await.expect("a connection");
        gmp_exec::spawn(connection.with_upgrades());
        Client(sender)
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<Response<Incoming>> {
        self.0.ready().await?;
        self.0.send_request(request).await
    }

    async fn ask(&mut self, path: &str, body: impl Into<Bytes>) -> (StatusCode, String) {
        text(self.send(request(path, body)).await).await
    }
}

#[test]
fn a_router_is_served_over_http1() {
    on_both(|| async {
        let mut client = Client::connect(serve_http1(router(), DEADLINE).await).await;
        assert_eq!(client.ask("/", "").await, (StatusCode::OK, "hello".into()));
        assert_eq!(client.ask("/add/2/3", "").await.1, "5");
        assert_eq!(client.ask("/slow", "").await.1, "slow");
        assert_eq!(client.ask("/nowhere", "").await.0, StatusCode::NOT_FOUND);
        let (status, complaint) = client.ask("/add/2/x", "").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(complaint.contains('x'), "{complaint}");
    });
}

#[test]
fn a_router_is_served_over_http2() {
    on_both(|| async {
        let address = serve_http2(router()).await;
        let stream = TcpStream::connect(address).await.expect("connected");
        let (client, connection) =
            hyper::client::conn::http2::handshake(GmpExecutor::new(), GmpIo::new(stream)).await.expect("a connection");
        gmp_exec::spawn(connection);

        // Many requests at a time on one connection, the slow one first.
        let mut slow = client.clone();
        let slow = gmp_exec::spawn(async move { text(slow.send_request(request("/slow", "")).await).await.1 });
        let sums: Vec<_> = (0..20_u32)
            .map(|i| {
                let mut client = client.clone();
                gmp_exec::spawn(
                    async move { text(client.send_request(request(&format!("/add/{i}/1"), "")).await).await.1 },
                )
            })
            .collect();
        for (i, sum) in sums.into_iter().enumerate() {
            assert_eq!(sum.await.expect("a client"), (i + 1).to_string());
        }
        assert_eq!(slow.await.expect("a client"), "slow");
    });
}

#[test]
fn a_large_body_goes_there_and_back() {
    on_both(|| async {
        let router = router().layer(axum::extract::DefaultBodyLimit::disable());
        let mut client = Client::connect(serve_http1(router, DEADLINE).await).await;
        let body = "0123456789abcdef".repeat(256 << 10);
        let (status, answer) = client.ask("/echo", body.clone()).await;
        assert_eq!(status, StatusCode::OK);
        assert!(answer == body, "4 MiB differ");
    });
}

#[test]
fn many_connections_are_served_at_a_time() {
    on_both(|| async {
        let address = serve_http1(router(), DEADLINE).await;
        let clients: Vec<_> = (0..32_u32)
            .map(|i| {
                gmp_exec::spawn(async move {
                    let mut client = Client::connect(address).await;
                    for j in 0..10 {
                        let sum = client.ask(&format!("/add/{i}/{j}"), "").await.1;
                        assert_eq!(sum, (i + j).to_string());
                    }
                })
            })
            .collect();
        for client in clients {
            client.await.expect("a client");
        }
    });
}

/// hyper's timeout runs on gmp's timers: the connection of a client that never finishes its headers
/// is closed.
#[test]
fn a_client_that_dawdles_is_hung_up_on() {
    const PATIENCE: Duration = Duration::from_millis(200);
    on_both(|| async {
        let address = serve_http1(router(), PATIENCE).await;
        // Before the server can have accepted, which starts the timeout.
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).await.expect("connected");
        stream.write_all(b"GET / HTTP/1.1\r\nhost: loc").await.expect("written");
        let mut answer = Vec::new();
        // Closed or reset: either way the connection is over.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(start.elapsed() >= PATIENCE, "after {:?}", start.elapsed());
    });
}

/// The adapter's other direction: hyper's upgraded connection as a tokio stream.
#[test]
fn an_upgraded_connection_is_read_and_written_with_tokios_traits() {
    async fn upgrade(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
        gmp_exec::spawn(async move {
            let mut stream = GmpIo::new(hyper::upgrade::on(request).await.expect("upgraded"));
            let mut received = [0; 4];
            stream.read_exact(&mut received).await.expect("read");
            assert_eq!(&received, b"ping");
            stream.write_all(b"pong").await.expect("written");
            stream.shutdown().await.expect("closed");
        });
        let response = Response::builder()
            .status(StatusCode::SWITCHING_PROTOCOLS)
            .header("connection", "upgrade")
            .header("upgrade", "ping-pong");
        Ok(response.body(Full::default()).expect("a response"))
    }

    on_both(|| async {
        let listener = listen().await;
        let address = listener.local_addr().expect("an address");
        accept_each(listener, |stream| {
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(GmpIo::new(stream), hyper::service::service_fn(upgrade))
                .with_upgrades();
            gmp_exec::spawn(connection);
        });

        let mut client = Client::connect(address).await;
        let mut upgrade = request("/", "");
        upgrade.headers_mut().insert("connection", "upgrade".parse().expect("a value"));
        upgrade.headers_mut().insert("upgrade", "ping-pong".parse().expect("a value"));
        let response = client.send(upgrade).await.expect("a response");
        assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
        let mut stream = GmpIo::new(hyper::upgrade::on(response).await.expect("upgraded"));
        stream.write_all(b"ping").await.expect("written");
        let mut received = String::new();
        stream.read_to_string(&mut received).await.expect("read");
        assert_eq!(received, "pong");
    });
}
