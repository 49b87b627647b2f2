//! A blocking library inside a service: called as it is, or announced, which costs less.
//!
//!     cargo run --release -p gmp-io --example blocking_library

use std::io;
use std::time::{Duration, Instant};

use gmp_exec::task::{JoinSet, block_in_place, spawn_blocking};
use gmp_io::net::{TcpListener, TcpStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[gmp_exec::main(worker_threads = 2)]
async fn main() -> io::Result<()> {
    let service = start(|| std::thread::sleep(Duration::from_millis(200))).await?;
    let began = Instant::now();
    let queries: JoinSet<_> = b"dddbbbsss".iter().map(|&kind| ask(service, kind)).collect();
    ask(service, b'-').await?;
    println!("a request without a query, after {:?}", began.elapsed());
    queries.join_all().await;
    println!("9 queries of 200 ms each on 2 processors, after {:?}", began.elapsed());
    Ok(())
}

async fn start(query: impl Fn() + Clone + Send + 'static) -> io::Result<std::net::SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr();
    gmp_exec::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            gmp_exec::spawn(answer(client, query.clone()));
        }
    });
    address
}

async fn answer(mut client: TcpStream, query: impl Fn() + Send + 'static) -> io::Result<()> {
    match client.read_u8().await? {
        b'd' => query(),
        b'b' => block_in_place(query),
        b's' => spawn_blocking(query).await?,
        _ => {}
    }
    client.write_u8(b'!').await
}

async fn ask(service: std::net::SocketAddr, kind: u8) -> io::Result<u8> {
    let mut service = TcpStream::connect(service).await?;
    service.write_u8(kind).await?;
    service.read_u8().await
}

#[gmp_exec::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_answered_while_more_queries_block_than_there_are_processors() {
    static TEN: std::sync::Barrier = std::sync::Barrier::new(10);
    let service = start(|| _ = TEN.wait()).await.unwrap();
    let queries: JoinSet<_> = b"dddbbbsss".iter().map(|&kind| ask(service, kind)).collect();
    assert_eq!(ask(service, b'-').await.unwrap(), b'!');
    block_in_place(|| TEN.wait()); // lets the nine queries return
    assert!(queries.join_all().await.into_iter().all(|answer| answer.unwrap() == b'!'));
}
