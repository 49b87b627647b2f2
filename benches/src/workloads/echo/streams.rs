//! Echo over connections that are streams of bytes.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{End, HERE, exchange};
use crate::rt::Io;

pub(in crate::workloads) fn tcp<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, tcp_pair::<R>)
}

pub(in crate::workloads) fn unix<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, unix_pair::<R>)
}

async fn tcp_pair<R: Io>() -> io::Result<(Stream<R::TcpStream>, Stream<R::TcpStream>)> {
    let listener = R::listen(HERE).await?;
    let client = R::connect(R::local_addr(&listener)?).await?;
    Ok((Stream(client), Stream(R::accept(&listener).await?)))
}

async fn unix_pair<R: Io>() -> io::Result<(Stream<R::UnixStream>, Stream<R::UnixStream>)> {
    R::unix_pair().map(|(client, peer)| (Stream(client), Stream(peer)))
}

/// An end that is a stream.
pub(super) struct Stream<S>(pub(super) S);

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> End for Stream<S> {
    async fn send(&mut self, message: &[u8; 64]) -> io::Result<()> {
        self.0.write_all(message).await
    }

    async fn receive(&mut self, message: &mut [u8; 64]) -> io::Result<()> {
        self.0.read_exact(message).await.map(|_| ())
    }
}
