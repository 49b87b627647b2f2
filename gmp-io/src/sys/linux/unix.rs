//! Unix sockets that are made non-blocking and close-on-exec by a single system call.

use std::io;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::net::{SocketFlags, accept_with};
use socket2::{Domain, Socket, Type};

/// The peer's address comes from a separate call of the standard library, which understands all
/// addresses of Linux, including paths without a final NUL, at which rustix 1.1 panics.
pub(crate) fn accept_unix(listener: &UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
    let stream = UnixStream::from(accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?);
    let address = stream.peer_addr()?;
    Ok((stream, address))
}

pub(crate) fn unix_pair(kind: Type) -> io::Result<(Socket, Socket)> {
    Socket::pair(Domain::UNIX, kind.nonblocking(), None)
}
