//! Sockets, and the lookup of addresses by name.

#[cfg(feature = "net")]
#[doc(inline)]
pub use gmp_io::net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream,
    lookup_host, tcp, unix,
};
// tokio has the trait even without the feature `net`, although then no function uses it.
#[cfg(not(feature = "net"))]
#[doc(inline)]
pub use tokio_real::net::ToSocketAddrs;
