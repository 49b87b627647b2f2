//! A stream of messages for each request, with tonic. Written by hand, so that building the program
//! needs no compiler of protocols.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::stream::{self, Stream};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::{Grpc, NamedService, ServerStreamingService};
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use crate::trouble::Trouble;

/// How many messages the client wants, and the trouble that it wants, if any.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Range {
    #[prost(uint32, tag = "1")]
    pub(crate) count: u32,
    #[prost(string, tag = "2")]
    pub(crate) trouble: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Numbers {
    #[prost(uint32, repeated, tag = "1")]
    pub(crate) numbers: Vec<u32>,
}

pub(super) async fn serve(listener: TcpListener) {
    let server = tonic::transport::Server::builder().add_service(Counter);
    // tonic does so itself if it makes the listener. Without, a stream may wait 40 ms for the
    // acknowledgement of its headers.
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    server.serve_with_incoming(incoming).await.expect("the listener works");
}

#[derive(Clone)]
struct Counter;

impl NamedService for Counter {
    const NAME: &'static str = "services.Counter";
}

impl Service<http::Request<Body>> for Counter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let mut grpc = Grpc::new(ProstCodec::<Numbers, Range>::default());
        Box::pin(async move { Ok(grpc.server_streaming(Count, request).await) })
    }
}

struct Count;

impl ServerStreamingService<Range> for Count {
    type Response = Numbers;
    type ResponseStream = Pin<Box<dyn Stream<Item = Result<Numbers, Status>> + Send>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, request: Request<Range>) -> Self::Future {
        Box::pin(async move {
            let range = request.into_inner();
            if let Some(trouble) = Trouble::named(&range.trouble) {
                trouble.act();
            }
            let messages = (0..range.count).map(|n| Ok(Numbers { numbers: vec![n; 8] }));
            let stream: Self::ResponseStream = Box::pin(stream::iter(messages));
            Ok(Response::new(stream))
        })
    }
}
