//! Sockets, and addresses by name.

#[cfg(feature = "net")]
#[doc(inline)]
pub use gmp_io::net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream,
    lookup_host, tcp, unix,
};
// tokio has the trait even where nothing takes it.
#[cfg(not(feature = "net"))]
#[doc(inline)]
pub use tokio_real::net::ToSocketAddrs;
