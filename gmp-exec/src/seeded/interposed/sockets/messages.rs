//! Calls with addresses, and datagrams.

use std::ffi::c_int;

use super::control::{Destination, segment_of, write_destination};
use super::transfer::{gather, receive, room, scatter, send, slices};
use super::{in_kernel, in_turn, number};
use crate::seeded::network::{Address, Answer, Datagram, is_here, read_address, write_address};

/// Where an address is written to, and its length.
type Name = (*mut libc::sockaddr, *mut libc::socklen_t);

/// # Safety
///
/// As for `recvfrom`.
pub(in crate::seeded::interposed) unsafe fn receive_from(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    name: Name,
) -> isize {
    // SAFETY: the caller vouches for all of this.
    number(unsafe { receive_named(fd, buffers, flags, name) }.map(|received| received.count))
}

struct Received {
    count: usize,
    /// A datagram was longer than the buffers.
    is_cut: bool,
    /// Where a datagram was sent to, if the program has asked for that in the one form or the other.
    destination: Option<Destination>,
}

unsafe fn receive_named(fd: c_int, buffers: &[libc::iovec], flags: c_int, name: Name) -> Answer<Received> {
    if !in_kernel(|net| net.is_udp(fd)) {
        // SAFETY: the caller vouches for the pointer.
        unsafe { name.1.as_mut() }.into_iter().for_each(|length| *length = 0);
        // SAFETY: as above.
        let count = unsafe { receive(fd, buffers, flags) };
        let error = || std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let received = usize::try_from(count).map_err(|_| error());
        return received.map(|count| Received { count, is_cut: false, destination: None });
    }
    let room = room(buffers);
    let (peeks, may_wait) = (flags & libc::MSG_PEEK != 0, flags & libc::MSG_DONTWAIT == 0);
    let ends = may_wait && crate::seeded::real::is_blocking(fd);
    let received = in_turn(fd, libc::POLLIN, may_wait, |net| {
        let id = net.id(fd)?;
        let tells = net.tells_destination(id);
        match net.udp_receive(id, peeks) {
            Err(libc::EAGAIN) if ends && net.udp_has_ended(id) => Ok(None),
            answer => answer.map(|datagram| Some((datagram, tells))),
        }
    })?;
    let Some((Datagram { from, to, at, bytes }, tells)) = received else {
        return Ok(Received { count: 0, is_cut: false, destination: None });
    };
    // SAFETY: the caller vouches for the pointers.
    unsafe { write_address(from, name.0, name.1) };
    // SAFETY: as above. There is room for so many bytes.
    unsafe { scatter(&bytes[..bytes.len().min(room)], buffers) };
    let count = if flags & libc::MSG_TRUNC != 0 { bytes.len() } else { bytes.len().min(room) };
    Ok(Received { count, is_cut: bytes.len() > room, destination: Some((to, at, tells)) })
}

/// # Safety
///
/// As for `recvmsg`.
pub(in crate::seeded::interposed) unsafe fn receive_message(
    fd: c_int,
    message: &mut libc::msghdr,
    flags: c_int,
) -> isize {
    let name = (message.msg_name.cast(), &raw mut message.msg_namelen);
    // SAFETY: the caller vouches for the message.
    let buffers = unsafe { slices(message.msg_iov, message.msg_iovlen) };
    // SAFETY: as above.
    let received = unsafe { receive_named(fd, buffers, flags, name) };
    if let Ok(received) = &received {
        message.msg_flags = if received.is_cut { libc::MSG_TRUNC } else { 0 };
        // SAFETY: as above.
        unsafe { write_destination(message, received.destination) };
    }
    number(received.map(|received| received.count))
}

/// # Safety
///
/// As for `sendto`.
pub(in crate::seeded::interposed) unsafe fn send_to(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    to: (*const libc::sockaddr, libc::socklen_t),
) -> isize {
    // SAFETY: the caller vouches for all of this.
    unsafe { send_parts(fd, buffers, flags, to, usize::MAX) }
}

/// # Safety
///
/// As for `sendmsg`.
pub(in crate::seeded::interposed) unsafe fn send_message(fd: c_int, message: &libc::msghdr, flags: c_int) -> isize {
    // SAFETY: the caller vouches for the message.
    let buffers = unsafe { slices(message.msg_iov, message.msg_iovlen) };
    // SAFETY: as above.
    let segment = unsafe { segment_of(message) };
    // SAFETY: as above.
    unsafe { send_parts(fd, buffers, flags, (message.msg_name.cast(), message.msg_namelen), segment) }
}

/// Datagrams of at most so many bytes each.
unsafe fn send_parts(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    to: (*const libc::sockaddr, libc::socklen_t),
    segment: usize,
) -> isize {
    if !in_kernel(|net| net.is_udp(fd)) {
        // SAFETY: the caller vouches for the buffers.
        return unsafe { send(fd, buffers, flags) };
    }
    // SAFETY: as above.
    let to = if to.0.is_null() { Ok(None) } else { unsafe { read_address(to.0, to.1) }.map(Some) };
    // SAFETY: as above.
    let bytes = unsafe { gather(buffers) };
    number(to.and_then(|to| send_each(fd, &bytes, to, segment)))
}

fn send_each(fd: c_int, bytes: &[u8], to: Option<Address>, segment: usize) -> Answer<usize> {
    if let Some(Address::Internet(to)) = to
        && !is_here(to.ip())
    {
        return Err(libc::ENETUNREACH);
    }
    if bytes.is_empty() {
        return in_kernel(|net| net.udp_send(net.id(fd)?, bytes, to));
    }
    for part in bytes.chunks(segment) {
        in_kernel(|net| net.udp_send(net.id(fd)?, part, to))?;
    }
    Ok(bytes.len())
}
