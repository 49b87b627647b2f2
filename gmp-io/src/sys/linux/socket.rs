//! One system call per socket.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;

use rustix::net::{SocketFlags, acceptfrom_with};
use socket2::{Domain, Socket, Type};

pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let (socket, address) = acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
    let address = address.ok_or(io::ErrorKind::InvalidInput)?;
    Ok((TcpStream::from(socket), SocketAddr::try_from(address)?))
}

pub(crate) fn stream_socket(domain: Domain) -> io::Result<Socket> {
    Socket::new(domain, Type::STREAM.nonblocking(), None)
}

pub(crate) fn datagram_socket(domain: Domain) -> io::Result<Socket> {
    Socket::new(domain, Type::DGRAM.nonblocking(), None)
}

/// The kernel's own limit, `net.core.somaxconn`: it silently cuts longer requests down to it, so asking for exactly this
/// much asks for all there is. Read once; 4096, the kernel's default since 5.4, where it can't be read.
pub(crate) fn max_backlog() -> u32 {
    static LIMIT: OnceLock<u32> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
        text.trim().parse().unwrap_or(4096)
    })
}
