//! Sockets whose flags are set after they are made.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use socket2::{Domain, Socket, Type};

pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, address) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok((stream, address))
}

pub(crate) fn stream_socket(domain: Domain) -> io::Result<Socket> {
    socket(domain, Type::STREAM)
}

pub(crate) fn datagram_socket(domain: Domain) -> io::Result<Socket> {
    socket(domain, Type::DGRAM)
}

fn socket(domain: Domain, kind: Type) -> io::Result<Socket> {
    let socket = Socket::new(domain, kind, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// More than the usual limits (128 to 4096). The system reduces it to its own limit.
pub(crate) fn max_backlog() -> u32 {
    4096
}
