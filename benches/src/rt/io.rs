//! Sockets of both runtimes behind one face.
//!
//! The types carry the same names in both crates, so one text is compiled against `gmp_io` and against `tokio`. What the
//! workloads call on a socket is tokio's `AsyncRead` and `AsyncWrite` wherever it has them; the functions here are the
//! rest. Each is one call of the runtime's own.

use std::{future::Future, io, net::SocketAddr};

use ::tokio::io::{AsyncRead, AsyncWrite};

use super::{Gmp, Rt, Tokio};

/// A runtime's sockets.
pub trait Io: Rt {
    /// Accepts TCP connections.
    type TcpListener: Send + Sync + 'static;
    /// One end of a TCP connection.
    type TcpStream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Listens on `address`, with the backlog that is the runtime's own choice.
    fn listen(address: SocketAddr) -> impl Future<Output = io::Result<Self::TcpListener>> + Send;

    /// Where `listener` listens.
    fn local_addr(listener: &Self::TcpListener) -> io::Result<SocketAddr>;

    /// The next connection.
    fn accept(listener: &Self::TcpListener) -> impl Future<Output = io::Result<Self::TcpStream>> + Send;

    /// Connects to `address`.
    fn connect(address: SocketAddr) -> impl Future<Output = io::Result<Self::TcpStream>> + Send;
}

macro_rules! io {
    ($runtime:ty, $library:ident) => {
        impl Io for $runtime {
            type TcpListener = $library::net::TcpListener;
            type TcpStream = $library::net::TcpStream;

            async fn listen(address: SocketAddr) -> io::Result<Self::TcpListener> {
                $library::net::TcpListener::bind(address).await
            }

            fn local_addr(listener: &Self::TcpListener) -> io::Result<SocketAddr> {
                listener.local_addr()
            }

            async fn accept(listener: &Self::TcpListener) -> io::Result<Self::TcpStream> {
                listener.accept().await.map(|(stream, _)| stream)
            }

            async fn connect(address: SocketAddr) -> io::Result<Self::TcpStream> {
                $library::net::TcpStream::connect(address).await
            }
        }
    };
}

io!(Gmp, gmp_io);
io!(Tokio, tokio);
