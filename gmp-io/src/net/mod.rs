//! TCP and Unix sockets, pipes, and addresses by name.
//!
//! - [`TcpListener`] and [`TcpStream`] listen for and make connections.
//! - [`TcpSocket`] is a socket that is neither yet, for options that must be set before.
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
pub mod unix;

pub use addr::{ToSocketAddrs, lookup_host};
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

use std::io;
use std::os::fd::AsFd;

/// A blocking socket would block the thread in its first read. tokio treats it as a mistake that debug builds report, with
/// the first of these sentences.
#[track_caller]
fn check_nonblocking(socket: &impl AsFd) -> io::Result<()> {
    debug_assert!(
        socket2::SockRef::from(socket).nonblocking()?,
        "Registering a blocking socket with the tokio runtime is unsupported. \
         Call `set_nonblocking(true)` on it before.",
    );
    Ok(())
}
