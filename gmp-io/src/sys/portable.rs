//! Systems without a timer descriptor: mio's timeout, rounded up to what the system counts in.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use mio::Registry;
use socket2::{Domain, Socket, Type};

/// Leaves the whole timeout to mio.
#[derive(Debug)]
pub(crate) struct Deadline;

impl Deadline {
    pub(crate) fn new(_: &Registry) -> io::Result<Self> {
        Ok(Deadline)
    }

    pub(crate) fn arm(&mut self, timeout: Option<Duration>) -> io::Result<Option<Duration>> {
        Ok(timeout)
    }
}

pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (stream, address) = listener.accept()?;
    stream.set_nonblocking(true)?;
    Ok((stream, address))
}

pub(crate) fn stream_socket(domain: Domain) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// More than the usual limits (128 to 4096); these systems cut it down to their own.
pub(crate) fn max_backlog() -> u32 {
    4096
}
