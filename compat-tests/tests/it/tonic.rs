//! gRPC: tonic's services through hyper's server, tonic's clients over hyper-util's.
//!
//! tonic's own transport spawns on tokio; its services and clients work over any transport. The
//! health service is tonic's; `shout`, which streams in both directions, is written by hand in the
//! form of generated code, so that the test doesn't need protoc.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;

use futures::{Stream, StreamExt};
use gmp_io::hyper::{GmpExecutor, GmpIo, GmpTimer};
use gmp_io::hyper_util::GmpConnector;
use http::uri::PathAndQuery;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::client::Grpc;
use tonic::codegen::Service;
use tonic::metadata::MetadataValue;
use tonic::server::{StreamingService, UnaryService};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus as Wire;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::{HealthReporter, health_reporter};
use tonic_prost::ProstCodec;

use crate::support::{on_gmp, serve};

type Channel = Client<GmpConnector, Body>;
/// protobuf's StringValue, which prost knows without generated code.
type Codec = ProstCodec<String, String>;

/// A gRPC service over HTTP/2 on a port of its own.
async fn serve_grpc<S>(service: S) -> SocketAddr
where
    S: Service<http::Request<Incoming>, Response = http::Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    serve(move |stream| {
        let service = service.clone();
        let service = service_fn(move |request| service.clone().call(request));
        hyper::server::conn::http2::Builder::new(GmpExecutor::new())
            .timer(GmpTimer::new())
            .serve_connection(GmpIo::new(stream), service)
    })
    .await
}

fn channel() -> Channel {
    Client::builder(GmpExecutor::new()).timer(GmpTimer::new()).http2_only(true).build(GmpConnector::new())
}

fn origin(address: SocketAddr) -> http::Uri {
    format!("http://{address}").parse().expect("an address")
}

async fn health() -> (HealthReporter, HealthClient<Channel>) {
    let (reporter, service) = health_reporter();
    let address = serve_grpc(service).await;
    (reporter, HealthClient::with_origin(channel(), origin(address)))
}

fn about(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.into() }
}

#[test]
fn a_unary_call_is_answered() {
    on_gmp(|| async {
        let (reporter, mut client) = health().await;
        let whole = client.check(about("")).await.expect("an answer").into_inner();
        assert_eq!(whole.status(), Wire::Serving);

        let status = client.check(about("shop")).await.expect_err("unknown service");
        assert_eq!((status.code(), status.message()), (Code::NotFound, "service not registered"));
        reporter.set_service_status("shop", ServingStatus::NotServing).await;
        assert_eq!(client.check(about("shop")).await.expect("an answer").into_inner().status(), Wire::NotServing);
    });
}

#[test]
fn a_server_streams_what_changes() {
    on_gmp(|| async {
        let (reporter, mut client) = health().await;
        let mut statuses = client.watch(about("")).await.expect("an answer").into_inner();
        let mut next = async || statuses.message().await.expect("a message").expect("not the end").status();
        assert_eq!(next().await, Wire::Serving);
        for (set, seen) in
            [(ServingStatus::NotServing, Wire::NotServing), (ServingStatus::Serving, Wire::Serving)].repeat(10)
        {
            reporter.set_service_status("", set).await;
            assert_eq!(next().await, seen);
        }
    });
}

/// Answers each message of a stream as it arrives, in capitals; returns an error for an empty one.
#[derive(Clone)]
struct Shout;

impl StreamingService<String> for Shout {
    type Response = String;
    type ResponseStream = Pin<Box<dyn Stream<Item = Result<String, Status>> + Send>>;
    type Future = std::future::Ready<Result<Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: Request<Streaming<String>>) -> Self::Future {
        let shouted = request.into_inner().map(|message| match message?.to_uppercase() {
            message if message.is_empty() => Err(Status::invalid_argument("silence")),
            message => Ok(message),
        });
        std::future::ready(Ok(Response::new(Box::pin(shouted))))
    }
}

/// Adds the caller's name to the answer.
impl UnaryService<String> for Shout {
    type Response = String;
    type Future = std::future::Ready<Result<Response<String>, Status>>;

    fn call(&mut self, request: Request<String>) -> Self::Future {
        let name = request.metadata().get("name").and_then(|name| name.to_str().ok()).unwrap_or("stranger");
        let mut response = Response::new(format!("{} to {name}", request.get_ref()));
        response.metadata_mut().insert("mood", MetadataValue::from_static("loud"));
        std::future::ready(Ok(response))
    }
}

impl Service<http::Request<Incoming>> for Shout {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<http::Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Incoming>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = tonic::server::Grpc::new(Codec::default());
            Ok(match request.uri().path() {
                "/Shout/Greet" => grpc.unary(Shout, request).await,
                "/Shout/All" => grpc.streaming(Shout, request).await,
                _ => Status::unimplemented("no such method").into_http(),
            })
        })
    }
}

async fn shout_client() -> Grpc<Channel> {
    Grpc::with_origin(channel(), origin(serve_grpc(Shout).await))
}

#[test]
fn both_sides_stream_at_a_time() {
    on_gmp(|| async {
        let mut client = shout_client().await;
        let (words, outgoing) = mpsc::channel(1);
        client.ready().await.expect("ready");
        let path = PathAndQuery::from_static("/Shout/All");
        let request = Request::new(ReceiverStream::new(outgoing));
        let mut answers = client.streaming(request, path, Codec::default()).await.expect("an answer").into_inner();
        // Each answer arrives before the next word is sent.
        for i in 0..100 {
            words.send(format!("word {i}")).await.expect("the call is open");
            assert_eq!(answers.message().await.expect("a message"), Some(format!("WORD {i}")));
        }
        words.send(String::new()).await.expect("the call is open");
        let status = answers.message().await.expect_err("a complaint");
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "silence"));
    });
}

#[test]
fn metadata_goes_with_a_call() {
    on_gmp(|| async {
        let mut client = shout_client().await;
        client.ready().await.expect("ready");
        let mut request = Request::new(String::from("hello"));
        request.metadata_mut().insert("name", MetadataValue::from_static("gopher"));
        let path = PathAndQuery::from_static("/Shout/Greet");
        let response = client.unary(request, path, Codec::default()).await.expect("an answer");
        assert_eq!(response.metadata().get("mood").expect("sent"), "loud");
        assert_eq!(response.into_inner(), "hello to gopher");

        client.ready().await.expect("ready");
        let path = PathAndQuery::from_static("/Shout/Nothing");
        let status = client.unary::<_, String, _>(Request::new(String::new()), path, Codec::default()).await;
        assert_eq!(status.expect_err("there is no such method").code(), Code::Unimplemented);
    });
}
