//! How sockets come to be connected.

use std::ffi::c_int;

use super::{in_kernel, in_turn, is_simulated, number, status};
use crate::seeded::interposed::outside::{note_foreign, refuse};
use crate::seeded::interposed::{until_there_is_room, waits_in_vain};
use crate::seeded::network::{Address, Answer, copy_options, is_here, read_address, write_address};
use crate::seeded::real;
use crate::seeded::state::with;

interposed! {
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int = open;
    bind(fd: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int = |fd, address, length| {
        if !is_simulated(fd) {
            return real::bind(fd, address, length);
        }
        let answer = read_address(address, length);
        if leaves(fd, answer) {
            return real::bind(fd, address, length);
        }
        status(answer.and_then(|address| in_kernel(|net| net.bind(net.id(fd)?, address))))
    };
    listen(fd: c_int, backlog: c_int) -> c_int = |fd, backlog| {
        if is_simulated(fd) {
            status(in_kernel(|net| net.listen(net.id(fd)?, backlog)))
        } else {
            real::listen(fd, backlog)
        }
    };
    connect(fd: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int = |fd, address, length| {
        if !is_simulated(fd) {
            note_foreign(address);
            return connect_in_kernel(fd, address, length);
        }
        let answer = read_address(address, length);
        if leaves(fd, answer) {
            note_foreign(address);
            return real::connect(fd, address, length);
        }
        status(answer.and_then(|address| connect_to(fd, address)))
    };
    accept4(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t, flags: c_int) -> c_int
        = |fd, address, length, flags| {
            if is_simulated(fd) {
                return number(accept_one(fd, address, length, flags)) as c_int;
            }
            if real::is_listening(fd) && waits_in_vain(fd, libc::POLLIN) {
                return -1;
            }
            real::accept4(fd, address, length, flags)
        };
    accept(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int = |fd, address, length| {
        accept4(fd, address, length, 0)
    };
}

unsafe fn open(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: the call touches no memory.
    let fd = unsafe { real::socket(domain, kind, protocol) };
    let is_udp = match kind & !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) {
        libc::SOCK_STREAM if matches!(protocol, 0 | libc::IPPROTO_TCP) => Some(false),
        libc::SOCK_DGRAM if matches!(protocol, 0 | libc::IPPROTO_UDP) => Some(true),
        _ => None,
    };
    if let (0.., libc::AF_INET | libc::AF_INET6, Some(is_udp)) = (fd, domain, is_udp) {
        with(|state| {
            if state.network.wish.is_simulated {
                state.kernel().open_socket(fd, domain == libc::AF_INET6, is_udp);
            }
        });
    }
    fd
}

/// Whether the address is on another computer, and may be reached: then the socket is the kernel's.
fn leaves(fd: c_int, address: Answer<Address>) -> bool {
    let Ok(Address::Internet(address)) = address else { return false };
    if is_here(address.ip()) {
        return false;
    }
    if !with(|state| state.network.wish.allows_real) {
        refuse(&address.to_string());
        return false;
    }
    for (epoll, fd, mut event) in in_kernel(|net| net.give_to_kernel(fd)) {
        // SAFETY: the pointer is valid.
        unsafe { real::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) };
    }
    true
}

/// The same for the address of a datagram, if there is one.
///
/// # Safety
///
/// The pointer is null, or valid for the length.
pub(in crate::seeded::interposed) unsafe fn leaves_to(fd: c_int, to: *const libc::sockaddr, length: u32) -> bool {
    let is_named = !to.is_null() && in_kernel(|net| net.is_udp(fd));
    // SAFETY: the caller vouches for the pointer.
    is_named && leaves(fd, unsafe { read_address(to, length) })
}

/// A listener of Unix sockets whose queue is full lets its callers wait, which must not be with the turn.
unsafe fn connect_in_kernel(fd: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int {
    // SAFETY: the caller vouches for the pointer.
    let connect = || unsafe { real::connect(fd, address, length) };
    if !real::is_unix(fd) || !real::is_blocking(fd) {
        return connect();
    }
    real::set_blocking(fd, false);
    let result = until_there_is_room(fd, connect);
    real::set_blocking(fd, true);
    result
}

fn connect_to(fd: c_int, address: Address) -> Answer<()> {
    if let Address::Internet(address) = address
        && !is_here(address.ip())
    {
        return Err(libc::ENETUNREACH);
    }
    in_turn(fd, libc::POLLOUT, true, |net| net.connect(net.id(fd)?, address))
}

unsafe fn accept_one(
    fd: c_int,
    address: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
    flags: c_int,
) -> Answer<usize> {
    let is_v6 = in_turn(fd, libc::POLLIN, true, |net| net.may_accept(net.id(fd)?))?;
    let domain = if is_v6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: the call touches no memory.
    let new = unsafe { real::socket(domain, libc::SOCK_STREAM | flags, 0) };
    if new < 0 {
        return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EMFILE));
    }
    copy_options(fd, new);
    let peer = in_kernel(|net| net.id(fd).map(|id| net.accept(id, new)))?;
    if let Some(peer) = peer {
        // SAFETY: the caller vouches for the pointers.
        unsafe { write_address(peer, address, length) };
    }
    Ok(new as usize)
}
