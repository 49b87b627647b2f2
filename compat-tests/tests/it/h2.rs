//! h2 without hyper: streams, flow control, trailers, resets, ping, and the orderly end of a
//! connection.

use bytes::Bytes;
use gmp_io::net::TcpStream;
use h2::client::SendRequest;
use h2::{Reason, RecvStream, server};
use http::{HeaderMap, Request, Response};

use crate::support::{on_gmp, pair};

/// Far more data than a window, so that sender and receiver have to take turns.
const LARGE: usize = 1 << 20;

async fn client(stream: TcpStream) -> SendRequest<Bytes> {
    let (client, connection) = h2::client::handshake(stream).await.expect("a connection");
    gmp_exec::spawn(async move { connection.await.expect("a clean end") });
    client
}

fn request(path: &str) -> Request<()> {
    Request::post(format!("http://localhost{path}")).body(()).expect("a request")
}

async fn read_all(body: &mut RecvStream) -> Vec<u8> {
    let mut received = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.expect("data");
        body.flow_control().release_capacity(chunk.len()).expect("it was taken");
        received.extend_from_slice(&chunk);
    }
    received
}

/// Sends a body back, with its length in the trailers; refuses requests for `/refused`.
async fn answer(request: Request<RecvStream>, mut respond: server::SendResponse<Bytes>) {
    if request.uri().path() == "/refused" {
        return respond.send_reset(Reason::REFUSED_STREAM);
    }
    let received = read_all(&mut request.into_body()).await;
    let mut trailers = HeaderMap::new();
    trailers.insert("length", received.len().into());
    let mut body = respond.send_response(Response::new(()), false).expect("the stream is open");
    body.send_data(received.into(), false).expect("the stream is open");
    body.send_trailers(trailers).expect("the stream is open");
}

async fn serve(stream: TcpStream) {
    let mut connection = server::handshake(stream).await.expect("a connection");
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted.expect("a stream");
        gmp_exec::spawn(answer(request, respond));
    }
}

async fn exchange(client: SendRequest<Bytes>, body: Vec<u8>) -> (Vec<u8>, HeaderMap) {
    let mut client = client.ready().await.expect("the connection is open");
    let (response, mut sender) = client.send_request(request("/"), false).expect("a stream");
    sender.send_data(body.into(), true).expect("the stream is open");
    let mut body = response.await.expect("a response").into_body();
    let received = read_all(&mut body).await;
    (received, body.trailers().await.expect("trailers").expect("the server sends some"))
}

#[test]
fn bodies_larger_than_the_window_go_there_and_back_side_by_side() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        gmp_exec::spawn(serve(far));
        let client = client(near).await;
        let exchanges: Vec<_> =
            (0..4_u8).map(|i| (i, gmp_exec::spawn(exchange(client.clone(), vec![i; LARGE])))).collect();
        for (i, exchange) in exchanges {
            let (received, trailers) = exchange.await.expect("an exchange");
            assert!(received == vec![i; LARGE], "stream {i} got something else back");
            assert_eq!(trailers["length"], LARGE.to_string());
        }
    });
}

/// The end of one stream is not the end of the connection.
#[test]
fn a_reset_stream_leaves_the_others_alone() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        gmp_exec::spawn(serve(far));
        let client = client(near).await;
        let mut ready = client.clone().ready().await.expect("the connection is open");
        let (response, _sender) = ready.send_request(request("/refused"), true).expect("a stream");
        let error = response.await.expect_err("refused");
        assert_eq!(error.reason(), Some(Reason::REFUSED_STREAM));
        assert_eq!(exchange(client, b"hello".to_vec()).await.0, b"hello");
    });
}

#[test]
fn pings_are_answered_and_the_connection_ends_in_order() {
    on_gmp(|| async {
        let (near, far) = pair().await;
        let server = gmp_exec::spawn(serve(far));
        let (client, mut connection) = h2::client::handshake(near).await.expect("a connection");
        let mut pings = connection.ping_pong().expect("asked for once");
        let connection = gmp_exec::spawn(connection);
        pings.ping(h2::Ping::opaque()).await.expect("answered");

        // The last handle that could send a request is gone: the client tells the server, and both
        // sides end.
        drop(client);
        connection.await.expect("a connection").expect("a clean end");
        server.await.expect("a server");
    });
}
