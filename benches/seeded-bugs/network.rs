//! Races that need sockets.

use std::future::poll_fn;

use bytes::Bytes;
use fred::interfaces::{ClientLike, KeysInterface, TransactionInterface};
use fred::prelude::{Builder, Client, Config, ServerConfig};
use h2::RecvStream;
use h2::client::SendRequest;
use h2::server::SendResponse;
use http::{Request, Response};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::LIMIT;

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
        timeout(60 * LIMIT, upload).await.expect("the capacity is lost").unwrap();
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

/// h2 #772: the last stream is dropped while the connection is polled, which then never ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h2_ends() {
    let (client, connection) = connect().await;
    let connection = tokio::spawn(connection);
    let (response, _) = client.ready().await.unwrap().send_request(post(), true).unwrap();
    read_all(response.await.unwrap().into_body()).await;
    timeout(60 * LIMIT, connection).await.expect("the connection goes on").unwrap().unwrap();
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

/// fred #320: a command beside transactions is never answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fred_transactions() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            tokio::spawn(redis(listener.accept().await.unwrap().0));
        }
    });
    let config = Config { server: ServerConfig::new_centralized("127.0.0.1", port), ..Config::default() };
    let client = Builder::from_config(config).build().unwrap();
    client.init().await.unwrap();
    let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(count_and_get(client.clone()))).collect();
    for task in tasks {
        timeout(60 * LIMIT, task).await.expect("a command has no answer").unwrap();
    }
}

async fn count_and_get(client: Client) {
    let transaction = client.multi();
    let _: () = transaction.incr("n").await.unwrap();
    let _: () = transaction.exec(true).await.unwrap();
    let _: Option<String> = client.get("text").await.unwrap();
}

/// As much of Redis as fred asks for.
async fn redis(stream: TcpStream) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut queued = None;
    while let Some(words) = command(&mut read).await {
        let answer = match (words[0].to_ascii_uppercase().as_str(), &mut queued) {
            ("MULTI", None) => {
                queued = Some(0);
                "+OK\r\n".to_owned()
            }
            ("EXEC", Some(count)) => {
                let answer = format!("*{count}\r\n{}", ":1\r\n".repeat(*count));
                queued = None;
                answer
            }
            (_, Some(count)) => {
                *count += 1;
                "+QUEUED\r\n".to_owned()
            }
            ("GET", None) => "$-1\r\n".to_owned(),
            ("INFO", None) => "$19\r\nredis_version:7.2.5\r\n".to_owned(),
            ("PING", None) => "+PONG\r\n".to_owned(),
            _ => "+OK\r\n".to_owned(),
        };
        if write.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn command(read: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Vec<String>> {
    let count = number(read, '*').await?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut word = vec![0; number(read, '$').await? + 2];
        read.read_exact(&mut word).await.ok()?;
        words.push(String::from_utf8_lossy(&word).trim_end().to_owned());
    }
    Some(words)
}

async fn number(read: &mut (impl AsyncBufReadExt + Unpin), kind: char) -> Option<usize> {
    let mut line = String::new();
    read.read_line(&mut line).await.ok()?;
    line.trim_end().strip_prefix(kind)?.parse().ok()
}
