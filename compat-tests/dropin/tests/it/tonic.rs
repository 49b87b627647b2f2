//! tonic's own transport: its server, and channels that connect, share, limit, time out and
//! reconnect.
//!
//! The services are tonic-health (unary calls and a stream from the server) and tonic-reflection
//! (streams in both directions), so that the tests don't need protoc.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::Code;
use tonic::transport::{Channel, Endpoint, Error, Server};
use tonic_health::ServingStatus;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus as Wire;
use tonic_health::pb::health_client::HealthClient;
use tonic_health::server::{HealthReporter, health_reporter};
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::support::{listen, on_gmp};

/// A server with both services, and the means to stop it.
struct Running {
    reporter: HealthReporter,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), Error>>,
}

fn serve(listener: TcpListener) -> Running {
    let (reporter, health) = health_reporter();
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()
        .expect("descriptors");
    let (stop, stopped) = oneshot::channel();
    let serving = Server::builder()
        .http2_keepalive_interval(Some(Duration::from_millis(50)))
        .add_service(health)
        .add_service(reflection)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async { stopped.await.expect("told to stop") });
    Running { reporter, stop, serving: tokio::spawn(serving) }
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint::from_shared(format!("http://{address}")).expect("an address")
}

async fn open() -> (Running, Channel) {
    let (listener, address) = listen().await;
    (serve(listener), endpoint(address).connect().await.expect("connected"))
}

fn about(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

#[test]
fn many_calls_share_a_channel() {
    on_gmp(|| async {
        let (_server, channel) = open().await;
        let mut calls = JoinSet::new();
        for _ in 0..100 {
            let mut client = HealthClient::new(channel.clone());
            calls.spawn(async move { client.check(about("")).await.expect("an answer").into_inner().status() });
        }
        assert!(calls.join_all().await.into_iter().all(|status| status == Wire::Serving));
        let status = HealthClient::new(channel).check(about("nobody")).await.expect_err("unknown");
        assert_eq!(status.code(), Code::NotFound);
    });
}

#[test]
fn a_stream_from_the_server_follows_what_is_reported() {
    on_gmp(|| async {
        let (server, channel) = open().await;
        let mut statuses = HealthClient::new(channel).watch(about("")).await.expect("an answer").into_inner();
        let mut next = async || statuses.message().await.expect("a message").expect("not the end").status();
        assert_eq!(next().await, Wire::Serving);
        for round in 0..20 {
            let (set, seen) =
                [(ServingStatus::NotServing, Wire::NotServing), (ServingStatus::Serving, Wire::Serving)][round % 2];
            server.reporter.set_service_status("", set).await;
            assert_eq!(next().await, seen);
        }
    });
}

fn services() -> ServerReflectionRequest {
    let request = MessageRequest::ListServices(String::new());
    ServerReflectionRequest { host: String::new(), message_request: Some(request) }
}

/// Each answer arrives before the client asks the next question.
#[test]
fn both_sides_stream_at_a_time() {
    on_gmp(|| async {
        let (_server, channel) = open().await;
        let (questions, outgoing) = mpsc::channel(1);
        let mut client = ServerReflectionClient::new(channel);
        let answers = client.server_reflection_info(ReceiverStream::new(outgoing));
        // The server's stream begins with the first question.
        let ask = || async { questions.send(services()).await.expect("the call is open") };
        let (answers, ()) = tokio::join!(answers, ask());
        let mut answers = answers.expect("an answer").into_inner();
        for _ in 0..50 {
            let answer = answers.message().await.expect("a message").expect("not the end");
            let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
                panic!("{answer:?}")
            };
            let names: Vec<_> = list.service.iter().map(|service| service.name.as_str()).collect();
            assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
            ask().await;
        }
        drop(questions);
        while answers.message().await.expect("a message").is_some() {}
    });
}

/// The server accepts no connection, so it sends no answer.
#[test]
fn a_call_that_lasts_too_long_is_given_up() {
    on_gmp(|| async {
        let (_listener, silent) = listen().await;
        let channel = endpoint(silent).timeout(Duration::from_millis(30)).connect_lazy();
        let status = HealthClient::new(channel).check(about("")).await.expect_err("no answer");
        assert!([Code::Cancelled, Code::DeadlineExceeded].contains(&status.code()), "{status:?}");
    });
}

#[test]
fn a_channel_finds_a_server_that_has_moved_in_anew() {
    on_gmp(|| async {
        // An address that no other test uses: another test could be given this port between the two
        // servers.
        let listener = TcpListener::bind("127.0.0.2:0").await.expect("a listener");
        let address = listener.local_addr().expect("an address");
        let channel = endpoint(address).connect_lazy();
        let mut client = HealthClient::new(channel);
        let first = serve(listener);
        client.check(about("")).await.expect("an answer");
        first.stop.send(()).expect("it serves");
        first.serving.await.expect("a server").expect("a clean end");

        let status = client.check(about("")).await.expect_err("no server is there");
        // The call is cancelled if the channel has not noticed yet that its connection ends.
        assert!([Code::Unavailable, Code::Cancelled].contains(&status.code()), "{status:?}");
        let _second = serve(TcpListener::bind(address).await.expect("the port is free again"));
        while client.check(about("")).await.is_err() {
            tokio::task::yield_now().await;
        }
    });
}

/// An open stream delays the shutdown; when its client drops the stream, the server ends.
#[test]
fn a_graceful_end_waits_for_streams() {
    on_gmp(|| async {
        let (server, channel) = open().await;
        let mut statuses = HealthClient::new(channel.clone()).watch(about("")).await.expect("an answer").into_inner();
        statuses.message().await.expect("a message");
        server.stop.send(()).expect("it serves");
        server.reporter.set_service_status("", ServingStatus::NotServing).await;
        assert_eq!(statuses.message().await.expect("a message").expect("not the end").status(), Wire::NotServing);
        assert!(!server.serving.is_finished());
        drop((statuses, channel));
        server.serving.await.expect("a server").expect("a clean end");
    });
}
