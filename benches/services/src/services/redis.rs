//! A map that clients read and write with lines: `GET key`, `SET key value`.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::RwLock;

use crate::trouble::Trouble;

type Map = Arc<RwLock<HashMap<String, String>>>;

pub(super) async fn serve(listener: TcpListener) {
    let map = Map::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(converse(stream, map.clone()));
    }
}

async fn converse(stream: TcpStream, map: Map) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    while let Some(line) = lines.next_line().await? {
        let mut answer = answer(&line, &map).await;
        answer.push('\n');
        write.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

async fn answer(line: &str, map: &Map) -> String {
    let words: Vec<_> = line.splitn(3, ' ').collect();
    match words[..] {
        ["GET", key] => map.read().await.get(key).cloned().unwrap_or_default(),
        ["SET", key, value] => {
            map.write().await.insert(key.to_owned(), value.to_owned());
            "OK".to_owned()
        }
        ["TROUBLE", name] => {
            Trouble::named(name).unwrap_or(Trouble::None).act();
            "OK".to_owned()
        }
        _ => "ERROR".to_owned(),
    }
}
