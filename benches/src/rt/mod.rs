//! All runtimes that are measured: gmp and tokio, whose traits gmp-micro shares, smol, and a single
//! queue.
//!
//! Sockets, files and standard output are compiled from the same source against `gmp_io` and
//! against `tokio`. The workloads use streams through tokio's `AsyncRead` and `AsyncWrite`; the
//! functions of [`Io`] are the rest.

mod handle;
mod one_queue;
#[cfg(feature = "smol")]
mod smol;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use ::tokio::io::{AsyncRead, AsyncWrite};
pub use gmp_micro::rt::{Flavor, Gmp, Rt, Tokio, Twin, Work, in_task, join_all};

pub use self::one_queue::OneQueue;
#[cfg(feature = "smol")]
pub use self::smol::Smol;

/// Without the feature there is no column for smol; tokio only stands in for the type.
#[cfg(not(feature = "smol"))]
pub type Smol = Tokio;

/// A runtime that also has sockets and files.
pub trait Io: Twin {
    type TcpListener: Send + Sync + 'static;
    type TcpStream: AsyncRead + AsyncWrite + Send + Unpin + 'static;
    type UnixStream: AsyncRead + AsyncWrite + Send + Unpin + 'static;
    type UdpSocket: Send + Sync + 'static;
    type Stdout: AsyncWrite + Send + Unpin + 'static;

    /// Listens on `address`, with the runtime's own backlog; returns the address with its port.
    fn listen(address: SocketAddr) -> impl Future<Output = io::Result<(Self::TcpListener, SocketAddr)>> + Send;

    fn accept(listener: &Self::TcpListener) -> impl Future<Output = io::Result<Self::TcpStream>> + Send;
    fn connect(address: SocketAddr) -> impl Future<Output = io::Result<Self::TcpStream>> + Send;
    fn unix_pair() -> io::Result<(Self::UnixStream, Self::UnixStream)>;

    /// Creates two sockets on `address`, with different ports, connected to each other.
    fn udp_pair(address: SocketAddr) -> impl Future<Output = io::Result<(Self::UdpSocket, Self::UdpSocket)>> + Send;

    fn send(socket: &Self::UdpSocket, datagram: &[u8]) -> impl Future<Output = io::Result<usize>> + Send;
    fn recv(socket: &Self::UdpSocket, datagram: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    fn read(path: &Path) -> impl Future<Output = io::Result<Vec<u8>>> + Send;
    fn stdout() -> Self::Stdout;
}

macro_rules! io {
    ($runtime:ty, $library:ident) => {
        impl Io for $runtime {
            type TcpListener = $library::net::TcpListener;
            type TcpStream = $library::net::TcpStream;
            type UnixStream = $library::net::UnixStream;
            type UdpSocket = $library::net::UdpSocket;
            type Stdout = $library::io::Stdout;

            async fn listen(address: SocketAddr) -> io::Result<(Self::TcpListener, SocketAddr)> {
                let listener = $library::net::TcpListener::bind(address).await?;
                let address = listener.local_addr()?;
                Ok((listener, address))
            }

            async fn accept(listener: &Self::TcpListener) -> io::Result<Self::TcpStream> {
                listener.accept().await.map(|(stream, _)| stream)
            }

            async fn connect(address: SocketAddr) -> io::Result<Self::TcpStream> {
                $library::net::TcpStream::connect(address).await
            }

            fn unix_pair() -> io::Result<(Self::UnixStream, Self::UnixStream)> {
                $library::net::UnixStream::pair()
            }

            async fn udp_pair(address: SocketAddr) -> io::Result<(Self::UdpSocket, Self::UdpSocket)> {
                let one = $library::net::UdpSocket::bind(address).await?;
                let other = $library::net::UdpSocket::bind(address).await?;
                one.connect(other.local_addr()?).await?;
                other.connect(one.local_addr()?).await?;
                Ok((one, other))
            }

            async fn send(socket: &Self::UdpSocket, datagram: &[u8]) -> io::Result<usize> {
                socket.send(datagram).await
            }

            async fn recv(socket: &Self::UdpSocket, datagram: &mut [u8]) -> io::Result<usize> {
                socket.recv(datagram).await
            }

            async fn read(path: &Path) -> io::Result<Vec<u8>> {
                $library::fs::read(path).await
            }

            fn stdout() -> Self::Stdout {
                $library::io::stdout()
            }
        }
    };
}

io!(Gmp, gmp_io);
io!(Tokio, tokio);
