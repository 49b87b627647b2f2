//! TCP, UDP and Unix sockets, pipes, and addresses by name.
//!
//! - [`TcpListener`] and [`TcpStream`] listen for and make connections.
//! - [`TcpSocket`] is a socket that is neither yet, for options that must be set before.
//! - [`UdpSocket`] sends and receives datagrams.
//! - [`UnixListener`], [`UnixStream`], [`UnixDatagram`] and [`UnixSocket`] are the same for processes of one machine;
//!   [`unix::pipe`] has pipes.
//! - [`lookup_host`] turns a name into addresses; whatever takes an address takes a name as well ([`ToSocketAddrs`]).
//!
//! The types belong to the runtime that is current where they are made: outside of one, making them panics.

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
