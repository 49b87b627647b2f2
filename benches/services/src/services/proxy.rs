//! A reverse proxy: each request asks a server behind it, through a client that keeps connections.

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Router, body::Bytes};
use tokio::net::TcpListener;

use super::http;

#[derive(Clone)]
struct Upstream {
    client: reqwest::Client,
    url: String,
}

/// The server behind the proxy runs in the same process.
pub(super) async fn router() -> Router {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/", listener.local_addr().expect("a listener has an address"));
    tokio::spawn(http::serve(listener));
    Router::new().route("/proxied", get(forward)).with_state(Upstream { client: reqwest::Client::new(), url })
}

async fn forward(State(upstream): State<Upstream>) -> Result<Bytes, StatusCode> {
    let answer = upstream.client.get(&upstream.url).send().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    answer.bytes().await.map_err(|_| StatusCode::BAD_GATEWAY)
}
