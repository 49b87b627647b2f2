//! TCP, UDP and Unix sockets, pipes, and addresses by name.
//!
//! - [`TcpListener`] and [`TcpStream`] listen for and make connections.
//! - [`TcpSocket`] is a socket that neither listens nor is connected yet, for options that must be
//!   set before.
//! - [`UdpSocket`] sends and receives datagrams.
//! - [`UnixListener`], [`UnixStream`], [`UnixDatagram`] and [`UnixSocket`] connect processes on the
//!   same machine; [`unix::pipe`] contains pipes.
//! - [`lookup_host`] resolves a name into addresses. Every function that takes an address takes a
//!   name too ([`ToSocketAddrs`]).
//!
//! A value belongs to the runtime that is current where it is made. Making one outside of a runtime
//! panics.

mod addr;
mod connect;
mod descriptor;
mod halves;
mod readiness;
pub mod tcp;
mod transfer;
mod udp;
pub mod unix;

pub use addr::{ToSocketAddrs, lookup_host};
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
