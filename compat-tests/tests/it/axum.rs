//! An axum application: state, extractors, middleware, streamed answers. `axum::serve` spawns on
//! tokio, so hyper serves the application.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::response::sse::{Event, Sse};
use axum::routing::{get, put};
use axum::{Json, Router};
use futures::Stream;
use gmp_io::hyper::{GmpExecutor, GmpIo, GmpTimer};
use gmp_io::hyper_util::GmpConnector;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::sync::mpsc;

use crate::support::{on_gmp, serve};

type Stock = Arc<Mutex<HashMap<String, u32>>>;

async fn stocked(State(stock): State<Stock>, Path(name): Path<String>) -> Result<Json<u32>, StatusCode> {
    stock.lock().expect("not poisoned").get(&name).copied().map(Json).ok_or(StatusCode::NOT_FOUND)
}

async fn deliver(State(stock): State<Stock>, Json(goods): Json<HashMap<String, u32>>) -> StatusCode {
    // Handlers may await: this is the runtime's timer.
    gmp_exec::time::sleep(std::time::Duration::from_millis(1)).await;
    stock.lock().expect("not poisoned").extend(goods);
    StatusCode::CREATED
}

/// Counts up to a number; a task makes one event after the other.
async fn count(Query(query): Query<HashMap<String, u32>>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, mut numbers) = mpsc::channel(1);
    let end = query.get("to").copied().unwrap_or(0);
    gmp_exec::spawn(async move {
        for number in 1..=end {
            if sender.send(number).await.is_err() {
                return;
            }
        }
    });
    Sse::new(futures::stream::poll_fn(move |cx| {
        numbers.poll_recv(cx).map(|number| number.map(|number| Ok(Event::default().data(number.to_string()))))
    }))
}

async fn only_with_a_badge(request: Request, next: Next) -> Result<Response, StatusCode> {
    if request.headers().get("badge").is_none_or(|badge| badge != "gopher") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(next.run(request).await)
}

async fn serve_shop() -> SocketAddr {
    let router = Router::new()
        .route("/stock/{name}", get(stocked))
        .route("/stock", put(deliver))
        .layer(middleware::from_fn(only_with_a_badge))
        .route("/count", get(count))
        .with_state(Stock::default());
    let service = TowerToHyperService::new(router);
    serve(move |stream| {
        let service = service.clone();
        async move {
            let mut server = auto::Builder::new(GmpExecutor::new());
            server.http1().timer(GmpTimer::new());
            server.http2().timer(GmpTimer::new());
            server.serve_connection(GmpIo::new(stream), service).await.expect("served");
        }
    })
    .await
}

struct Customer {
    client: Client<GmpConnector, Body>,
    shop: SocketAddr,
    badge: &'static str,
}

impl Customer {
    fn new(shop: SocketAddr, http2: bool, badge: &'static str) -> Customer {
        let client = Client::builder(GmpExecutor::new()).http2_only(http2).build(GmpConnector::new());
        Customer { client, shop, badge }
    }

    async fn send(&self, method: &str, path: &str, body: &'static str) -> Response<Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.shop))
            .header("badge", self.badge)
            .header("content-type", "application/json")
            .body(Body::from(body))
            .expect("a request");
        self.client.request(request).await.expect("a response")
    }

    async fn ask(&self, method: &str, path: &str, body: &'static str) -> (StatusCode, String) {
        let response = self.send(method, path, body).await;
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }
}

#[test]
fn an_application_is_served_over_both_versions_of_http() {
    on_gmp(|| async {
        for http2 in [false, true] {
            let customer = Customer::new(serve_shop().await, http2, "gopher");
            assert_eq!(customer.ask("GET", "/stock/nuts", "").await.0, StatusCode::NOT_FOUND);
            assert_eq!(customer.ask("PUT", "/stock", r#"{"nuts": 7}"#).await.0, StatusCode::CREATED);
            assert_eq!(customer.ask("GET", "/stock/nuts", "").await, (StatusCode::OK, "7".into()));
            let (status, complaint) = customer.ask("PUT", "/stock", r#"{"nuts": "many"}"#).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
            assert!(complaint.contains("expected u32"), "{complaint}");
        }
    });
}

#[test]
fn middleware_stands_before_the_handlers() {
    on_gmp(|| async {
        let intruder = Customer::new(serve_shop().await, false, "mole");
        assert_eq!(intruder.ask("GET", "/stock/nuts", "").await.0, StatusCode::UNAUTHORIZED);
        assert_eq!(intruder.ask("GET", "/count?to=1", "").await.0, StatusCode::OK);
    });
}

#[test]
fn events_are_streamed() {
    on_gmp(|| async {
        let listener = Customer::new(serve_shop().await, true, "gopher");
        let response = listener.send("GET", "/count?to=100", "").await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let expected: String = (1..=100).map(|number| format!("data: {number}\n\n")).collect();
        assert_eq!(body, expected);
    });
}
