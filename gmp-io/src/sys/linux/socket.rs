//! Sockets that are made non-blocking and close-on-exec by a single system call.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;

use gmp_exec::bridge::filter_has_come;
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

/// The kernel's own limit, `net.core.somaxconn`. The kernel silently reduces longer requests to it.
/// Read once; if it can't be read, or a filter of system calls has come, 4096, the kernel's default
/// since 5.4.
pub(crate) fn max_backlog() -> u32 {
    static LIMIT: OnceLock<u32> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let text = (!filter_has_come()).then(|| std::fs::read_to_string("/proc/sys/net/core/somaxconn").ok());
        text.flatten().and_then(|text| text.trim().parse().ok()).unwrap_or(4096)
    })
}
