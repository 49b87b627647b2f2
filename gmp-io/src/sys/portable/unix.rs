//! Unix sockets whose flags are set after they are made.

use std::io;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use socket2::{Domain, Socket, Type};

pub(crate) fn accept_unix(listener: &UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
    let (stream, address) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok((stream, address))
}

pub(crate) fn unix_pair(kind: Type) -> io::Result<(Socket, Socket)> {
    let (left, right) = Socket::pair(Domain::UNIX, kind, None)?;
    left.set_nonblocking(true)?;
    right.set_nonblocking(true)?;
    Ok((left, right))
}
