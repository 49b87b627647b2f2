//! Unix sockets that are made as they are to be.

use std::io;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::net::{SocketFlags, accept_with};
use socket2::{Domain, Socket, Type};

/// The peer's address is asked for separately, from the standard library, which knows how to read all that Linux gives: paths
/// without a final NUL, too.
pub(crate) fn accept_unix(listener: &UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
    let stream = UnixStream::from(accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?);
    let address = stream.peer_addr()?;
    Ok((stream, address))
}

pub(crate) fn unix_pair(kind: Type) -> io::Result<(Socket, Socket)> {
    Socket::pair(Domain::UNIX, kind.nonblocking(), None)
}
