//! Sockets, and addresses by name.

#[doc(inline)]
pub use gmp_io::net::{
    TcpListener, TcpSocket, TcpStream, ToSocketAddrs, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream,
    lookup_host, tcp, unix,
};
