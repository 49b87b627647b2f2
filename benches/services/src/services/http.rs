//! A constant text with hyper alone, and a small object with axum.

use std::convert::Infallible;

use axum::routing::get;
use axum::{Json, Router};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::net::TcpListener;

use crate::trouble::Trouble;

pub(super) async fn serve(listener: TcpListener) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(async move {
            // A client that goes away is no error of the server.
            _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if let Some(trouble) = request.uri().path().strip_prefix("/trouble/").and_then(Trouble::named) {
        trouble.act();
    }
    Ok(Response::new(Full::new(Bytes::from_static(b"Hello, World!"))))
}

#[derive(Serialize)]
struct Message {
    message: &'static str,
    numbers: [u32; 8],
}

pub(super) fn json() -> Router {
    Router::new().route("/json", get(|| async { Json(Message { message: "Hello, World!", numbers: [7; 8] }) }))
}
