//! Graceful shutdown: a server that stops accepting at Ctrl-C and lets its connections finish.
//! Connections that have not ended after `GRACE` are aborted.
//!
//!     cargo run -p gmp-io --example graceful_shutdown     # then `nc 127.0.0.1 PORT`, and Ctrl-C

use std::io;
use std::time::Duration;

use gmp_exec::task::JoinSet;
use gmp_exec::time::timeout;
use gmp_io::net::{TcpListener, TcpStream};

const GRACE: Duration = Duration::from_secs(5);

#[gmp_exec::main]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("echoes what is sent to {}", listener.local_addr()?);
    let aborted = serve(listener, async { _ = gmp_io::signal::ctrl_c().await }).await;
    println!("{aborted} connections were aborted");
    Ok(())
}

/// Serves until `stop` is ready and all connections have ended. Returns how many were aborted.
async fn serve(listener: TcpListener, stop: impl Future<Output = ()>) -> usize {
    let mut connections = JoinSet::new();
    let accept = async {
        loop {
            if let Ok((client, _)) = listener.accept().await {
                connections.spawn(echo(client));
            }
            while connections.try_join_next().is_some() {} // forgets those that have ended
        }
    };
    tokio::select! { () = stop => {}, () = accept => {} }
    drop(listener);
    _ = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
    connections.len()
}

async fn echo(mut client: TcpStream) -> io::Result<u64> {
    let (mut reader, mut writer) = client.split();
    tokio::io::copy(&mut reader, &mut writer).await
}

#[gmp_exec::test]
async fn a_connection_is_served_to_its_end_after_the_stop() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let server = gmp_exec::spawn(serve(listener, async { stopped.await.unwrap() }));
    client.write_all(b"a").await.unwrap();
    assert_eq!(client.read_u8().await.unwrap(), b'a');
    stop.send(()).unwrap();
    client.write_all(b"b").await.unwrap();
    assert_eq!(client.read_u8().await.unwrap(), b'b');
    drop(client); // hangs up, which ends its connection
    assert_eq!(server.await.unwrap(), 0);
}
