//! What a socket is connected to, asked by the number of its descriptor.
#![allow(unsafe_code, reason = "asks about descriptors of other parts of the program")]

use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The other end of a connected socket.
pub(crate) fn peer(fd: i32) -> Option<SocketAddr> {
    address(fd, libc::getpeername)
}

/// The address at which a socket takes connections.
pub(crate) fn listens_at(fd: i32) -> Option<SocketAddr> {
    let mut listens: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value and its length are valid places. Another descriptor is an error.
    let result = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN, (&raw mut listens).cast(), &raw mut length)
    };
    if result == 0 && listens != 0 { address(fd, libc::getsockname) } else { None }
}

type Ask = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

fn address(fd: i32, ask: Ask) -> Option<SocketAddr> {
    let mut address = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: the address has the length that is passed. Another descriptor is an error.
    let result = unsafe { ask(fd, address.as_mut_ptr().cast(), &raw mut length) };
    // SAFETY: all bits 0 is a valid address, and the system has perhaps written another one.
    let address = unsafe { address.assume_init() };
    if result != 0 {
        return None;
    }
    match i32::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that the address is of this type, which is shorter.
            let address = unsafe { &*(&raw const address).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(address.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that the address is of this type, which is shorter.
            let address = unsafe { &*(&raw const address).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            Some(SocketAddr::new(IpAddr::V6(ip), u16::from_be(address.sin6_port)))
        }
        _ => None,
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_connection_has_a_peer_and_a_listener_an_address() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let address = listener.local_addr().unwrap();
            let client = TcpStream::connect(address).unwrap();
            assert_eq!((peer(client.as_raw_fd()), listens_at(client.as_raw_fd())), (Some(address), None));
            assert_eq!((peer(listener.as_raw_fd()), listens_at(listener.as_raw_fd())), (None, Some(address)));
        }
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!((peer(file.as_raw_fd()), listens_at(file.as_raw_fd())), (None, None));
        assert_eq!((peer(-1), listens_at(-1)), (None, None));
    }
}
