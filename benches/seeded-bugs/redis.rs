//! A race of fred, over sockets.

use fred::interfaces::{ClientLike, KeysInterface, TransactionInterface};
use fred::prelude::{Builder, Client, Config, ServerConfig};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::LIMIT;

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
