//! Lines over a connection to itself, and what else of the lock file's crates meets gmp's.

use bytes::Bytes;
use slab::Slab;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::codec::{BytesCodec, Encoder};

#[tokio::main]
async fn main() {
    tracing::info!("nobody listens");
    let (sender, receiver) = async_channel::bounded(1);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        sender.send(text).await.unwrap();
    });
    let mut line = bytes::BytesMut::new();
    BytesCodec::new().encode(Bytes::from_static(b"an old lock file"), &mut line).unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&line).await.unwrap();
    drop(stream);
    let mut texts = Slab::new();
    let key = texts.insert(receiver.recv().await.unwrap());
    server.await.unwrap();
    println!("{} on {}", texts[key], std::any::type_name::<tokio::runtime::Runtime>());
}
