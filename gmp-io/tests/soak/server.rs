//! The server of the soak's TCP connections. Each client says how it wants to be treated.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::JoinHandle;
use gmp_exec::time::sleep;
use gmp_io::io::Interest;
use gmp_io::net::{TcpListener, TcpStream};
use tokio::io::{self as tokio_io, AsyncReadExt, AsyncWriteExt};

/// What the first byte of a connection asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manners {
    /// Everything comes back, then the end does.
    Echo,
    /// Nothing is read or said until the client has gone.
    Silence,
    /// Something is read, then the connection is closed.
    Close,
    /// Something is read, then the connection is reset.
    Reset,
}

impl Manners {
    const ALL: [Manners; 4] = [Manners::Echo, Manners::Silence, Manners::Close, Manners::Reset];
}

/// Listens until the task is aborted.
pub(crate) async fn start() -> io::Result<(SocketAddr, JoinHandle<io::Error>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    Ok((address, spawn(accept(listener))))
}

async fn accept(listener: TcpListener) -> io::Error {
    loop {
        match listener.accept().await {
            // What becomes of a connection its client can tell; here it may break at any moment.
            Ok((stream, _)) => drop(spawn(serve(stream))),
            Err(error) => return error,
        }
    }
}

async fn serve(mut stream: TcpStream) -> io::Result<()> {
    let first = stream.read_u8().await?;
    match Manners::ALL.into_iter().find(|manners| *manners as u8 == first) {
        Some(Manners::Echo) => echo(stream).await,
        Some(Manners::Silence) => silence(stream).await,
        Some(Manners::Close) => stream.read_u8().await.map(drop),
        Some(Manners::Reset) => stream.read_u8().await.and_then(|_| stream.set_zero_linger()),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let (mut read, mut write) = stream.split();
    tokio_io::copy(&mut read, &mut write).await?;
    write.shutdown().await
}

/// What is unread stays readable, so the wait for the client's end has to be a poll.
async fn silence(stream: TcpStream) -> io::Result<()> {
    while !stream.ready(Interest::READABLE).await?.is_read_closed() {
        sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}
