//! The services. Each is written as an application would write it, and knows nothing of gmp.

mod fanout;
mod files;
mod grpc;
mod http;
mod proxy;
mod redis;
mod worker;

pub(crate) use grpc::{Numbers, Range};

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::get;
use axum::serve::ListenerExt;
use clap::ValueEnum;
use tokio::net::TcpListener;

use crate::trouble::Trouble;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Service {
    /// hyper: a constant text
    Plaintext,
    /// axum: a small object, serialised
    Json,
    /// axum and reqwest: asks another server
    Proxy,
    /// tower-http: a file of 16 KiB
    Files,
    /// axum: a queue, eight workers, and a pool of four connections
    Worker,
    /// Lines over TCP: a map behind a lock
    Redis,
    /// axum: each message of a websocket goes to all websockets
    Fanout,
    /// tonic: a stream of ten messages for each request
    Grpc,
}

impl Service {
    pub(crate) async fn serve(self, listener: TcpListener) {
        match self {
            Service::Plaintext => http::serve(listener).await,
            Service::Json => serve_router(listener, http::json()).await,
            Service::Proxy => serve_router(listener, proxy::router().await).await,
            Service::Files => serve_router(listener, files::router()).await,
            Service::Worker => serve_router(listener, worker::router().await).await,
            Service::Redis => redis::serve(listener).await,
            Service::Fanout => serve_router(listener, fanout::router()).await,
            Service::Grpc => grpc::serve(listener).await,
        }
    }

    /// What a client over HTTP asks for; `None`: the service has a protocol of its own.
    pub(crate) fn path(self) -> Option<&'static str> {
        match self {
            Service::Plaintext => Some("/"),
            Service::Json => Some("/json"),
            Service::Proxy => Some("/proxied"),
            Service::Files => Some("/files/page"),
            Service::Worker => Some("/job"),
            Service::Redis | Service::Fanout | Service::Grpc => None,
        }
    }

    /// Whether `go/` has the same service. Go's library has neither websockets nor gRPC.
    pub(crate) fn has_twin_in_go(self) -> bool {
        !matches!(self, Service::Fanout | Service::Grpc)
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().expect("each service has a name").get_name().to_owned()
    }
}

/// With the route that causes trouble.
async fn serve_router(listener: TcpListener, router: Router) {
    let router = router.route("/trouble/{name}", get(trouble));
    // Where an answer takes two writes, the second would wait for the client's delayed acknowledgement.
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket has the option"));
    axum::serve(listener, router).await.expect("the listener works");
}

async fn trouble(Path(name): Path<String>) -> StatusCode {
    match Trouble::named(&name) {
        Some(trouble) => {
            trouble.act();
            StatusCode::OK
        }
        None => StatusCode::NOT_FOUND,
    }
}
