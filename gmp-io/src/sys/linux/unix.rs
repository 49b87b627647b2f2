//! One system call per Unix socket, or pair of them.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::net::{SocketFlags, acceptfrom_with};
use socket2::{Domain, Socket, Type};

use crate::net::unix::SocketAddr;

pub(crate) fn accept_unix(listener: &UnixListener) -> io::Result<(UnixStream, SocketAddr)> {
    let (socket, address) = acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
    Ok((UnixStream::from(socket), SocketAddr::from_system(address)?))
}

pub(crate) fn unix_pair(kind: Type) -> io::Result<(Socket, Socket)> {
    Socket::pair(Domain::UNIX, kind.nonblocking(), None)
}
