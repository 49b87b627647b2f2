//! reqwest against axum's server: pools, timeouts, streamed bodies, names, and HTTPS in both
//! versions of HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use axum::serve::Listener;
use axum::{Json, Router};
use compat_tests::certificates::{Authority, client_config, server_config};
use futures::{StreamExt, TryStreamExt};
use reqwest::{Client, StatusCode, Version};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::support::{self, client, listen, on_gmp, serve};

#[test]
fn many_tasks_share_a_pool_of_connections() {
    on_gmp(|| async {
        let add = async |Json((a, b)): Json<(u32, u32)>| Json(a + b);
        let server = serve(Router::new().route("/add", post(add))).await;
        let client = client();
        let mut tasks = JoinSet::new();
        for i in 0..50 {
            let client = client.clone();
            tasks.spawn(async move {
                for round in 0..10 {
                    let sum = client.post(format!("http://{server}/add")).json(&(i, round)).send().await;
                    let sum: u32 = sum.expect("a response").json().await.expect("a number");
                    assert_eq!(sum, i + round);
                }
            });
        }
        tasks.join_all().await;
    });
}

/// Sends received data back while more data arrives.
#[test]
fn bodies_are_streamed_in_both_directions() {
    const PIECES: usize = 256;
    on_gmp(|| async {
        let echo = async |body: Body| Body::from_stream(body.into_data_stream());
        let server = serve(Router::new().route("/", post(echo))).await;
        let pieces = (0..PIECES).map(|i| Bytes::from(vec![i as u8; 10_000]));
        let body = reqwest::Body::wrap_stream(futures::stream::iter(pieces.clone()).map(Ok::<_, std::io::Error>));
        let response = client().post(format!("http://{server}/")).body(body).send().await.expect("a response");
        let echoed: Vec<Bytes> = response.bytes_stream().try_collect().await.expect("a body");
        assert!(echoed.concat() == pieces.collect::<Vec<_>>().concat());
    });
}

#[test]
fn a_request_that_lasts_too_long_is_given_up() {
    on_gmp(|| async {
        let router =
            Router::new().route("/never", get(std::future::pending::<&str>)).route("/now", get(async || "now"));
        let server = serve(router).await;
        let client = client();
        let late = client.get(format!("http://{server}/never")).timeout(Duration::from_millis(30)).send().await;
        assert!(late.expect_err("no answer").is_timeout());
        assert_eq!(support::get(&client, format!("http://{server}/now")).await, "now");
    });
}

/// A blocking closure looks `localhost` up.
#[test]
fn names_are_looked_up_and_redirects_followed() {
    on_gmp(|| async {
        let move_on = async || axum::response::Redirect::temporary("/new");
        let server = serve(Router::new().route("/old", get(move_on)).route("/new", get(async || "found"))).await;
        let url = format!("http://localhost:{}/old", server.port());
        let response = client().get(url).send().await.expect("a response");
        assert_eq!(response.url().path(), "/new");
        assert_eq!(response.text().await.expect("a body"), "found");
    });
}

#[test]
fn nobody_listening_is_an_error() {
    on_gmp(|| async {
        let (listener, nobody) = listen().await;
        drop(listener);
        let error = client().get(format!("http://{nobody}/")).send().await.expect_err("refused");
        assert!(error.is_connect(), "{error:?}");
    });
}

/// Connections of axum's server, inside TLS.
struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            // A client that doesn't trust the certificate closes the connection here.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, peer);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A server for the name `localhost`, which understands both versions of HTTP.
async fn serve_tls(authority: &Authority) -> SocketAddr {
    let mut config = server_config(authority, "localhost");
    config.alpn_protocols = vec!["h2".into(), "http/1.1".into()];
    let (listener, address) = listen().await;
    let listener = TlsListener { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
    let say_version = async |request: axum::extract::Request| format!("{:?}", request.version());
    tokio::spawn(axum::serve(listener, Router::new().route("/", get(say_version))).into_future());
    address
}

fn tls_client(authority: &Authority, version: Version) -> Client {
    let mut config = client_config(authority);
    config.alpn_protocols = vec![if version == Version::HTTP_2 { "h2".into() } else { "http/1.1".into() }];
    Client::builder().no_proxy().tls_backend_preconfigured(config).build().expect("a client")
}

#[test]
fn https_speaks_both_versions() {
    on_gmp(|| async {
        let authority = Authority::create();
        let url = format!("https://localhost:{}/", serve_tls(&authority).await.port());
        for version in [Version::HTTP_11, Version::HTTP_2] {
            let client = tls_client(&authority, version);
            let mut tasks = JoinSet::new();
            for _ in 0..20 {
                let (client, url) = (client.clone(), url.clone());
                tasks.spawn(async move {
                    let response = client.get(url).send().await.expect("a response");
                    assert_eq!((response.status(), response.version()), (StatusCode::OK, version));
                    assert_eq!(response.text().await.expect("a body"), format!("{version:?}"));
                });
            }
            tasks.join_all().await;
        }
    });
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_trusted() {
    on_gmp(|| async {
        let url = format!("https://localhost:{}/", serve_tls(&Authority::create()).await.port());
        let error = tls_client(&Authority::create(), Version::HTTP_2).get(url).send().await.expect_err("not trusted");
        assert!(error.is_connect(), "{error:?}");
    });
}
