//! Races of h2, over sockets.
#![cfg(test)]

use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use h2::server::SendResponse;
use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// Longer than all packets take, also those that are late.
const LIMIT: Duration = Duration::from_secs(60);
/// How many streams may be open.
const MOST_OPEN: u32 = 2;
/// More than the window of a connection.
const UPLOADED: usize = 100_000;
/// More than half of it, so that the reader makes room.
const ANSWERED: usize = 50_000;

/// h2 #860: capacity goes to streams that are not open yet, and the open ones get no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2_capacity() {
    let (client, connection) = connect().await;
    let _connection = tokio::spawn(connection);
    let uploads: Vec<_> = (0..6).map(|_| tokio::spawn(upload(client.clone()))).collect();
    for upload in uploads {
        timeout(LIMIT, upload).await.expect("the capacity is lost").unwrap();
    }
}

async fn upload(client: SendRequest<Bytes>) {
    let (response, mut stream) = client.ready().await.unwrap().send_request(post(), false).unwrap();
    let mut left = UPLOADED;
    while left > 0 {
        stream.reserve_capacity(left);
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await.unwrap().unwrap().min(left);
        left -= room;
        stream.send_data(vec![0; room].into(), left == 0).unwrap();
    }
    response.await.unwrap();
}

/// h2 #772: the last stream is dropped while the connection is polled, which then never ends. #956 is
/// what the mend left: the connection looks for streams twice, and the last one is dropped in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2_ends() {
    let (client, connection) = connect().await;
    let connection = tokio::spawn(connection);
    let (response, _) = client.ready().await.unwrap().send_request(post(), true).unwrap();
    read_all(response.await.unwrap().into_body()).await;
    timeout(LIMIT, connection).await.expect("the connection goes on").unwrap().unwrap();
}

async fn read_all(mut body: RecvStream) {
    while let Some(data) = body.data().await {
        body.flow_control().release_capacity(data.unwrap().len()).unwrap();
    }
}

fn post() -> Request<()> {
    Request::post("http://localhost/").body(()).unwrap()
}

async fn connect() -> (SendRequest<Bytes>, h2::client::Connection<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { serve(listener.accept().await.unwrap().0).await });
    let stream = TcpStream::connect(address).await.unwrap();
    h2::client::Builder::new().initial_max_send_streams(MOST_OPEN as usize).handshake(stream).await.unwrap()
}

async fn serve(stream: TcpStream) {
    let mut connection = h2::server::Builder::new().max_concurrent_streams(MOST_OPEN).handshake(stream).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        tokio::spawn(answer(request.into_body(), respond));
    }
}

async fn answer(body: RecvStream, mut respond: SendResponse<Bytes>) {
    read_all(body).await;
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(vec![0; ANSWERED].into(), true).unwrap();
}
