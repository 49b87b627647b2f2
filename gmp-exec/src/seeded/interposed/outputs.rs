//! Writes. One that would wait, because a pipe or a socket is full, gives the turn away first. As the
//! kernel takes part of the bytes then, so may the call.

use std::ffi::{c_int, c_void};

use super::sockets::{self, is_simulated, part, slices};
use super::until_there_is_room;
use crate::seeded::descriptors::wait_until_ready;
use crate::seeded::real;

interposed! {
    write(fd: c_int, buffer: *const c_void, length: usize) -> isize = |fd, buffer, length| {
        if is_simulated(fd) {
            return sockets::send(fd, &[part(buffer, length)], 0);
        }
        if may_wait(fd) { write_some(fd, buffer, length) } else { real::write(fd, buffer, length) }
    };
    writev(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize = |fd, buffers, count: c_int| {
        if is_simulated(fd) {
            return sockets::send(fd, slices(buffers, count.max(0) as usize), 0);
        }
        match first(buffers, count) {
            Some(buffer) if may_wait(fd) => write_some(fd, buffer.iov_base, buffer.iov_len),
            _ => real::writev(fd, buffers, count),
        }
    };
    send(fd: c_int, buffer: *const c_void, length: usize, flags: c_int) -> isize = |fd, buffer, length, flags| {
        if is_simulated(fd) {
            return sockets::send(fd, &[part(buffer, length)], flags);
        }
        in_turn(fd, flags, |flags| real::send(fd, buffer, length, flags))
    };
    sendto(
        fd: c_int,
        buffer: *const c_void,
        length: usize,
        flags: c_int,
        address: *const libc::sockaddr,
        address_length: libc::socklen_t
    ) -> isize = |fd, buffer, length, flags, address, address_length| {
        if is_simulated(fd) && !sockets::leaves_to(fd, address, address_length) {
            return sockets::send_to(fd, &[part(buffer, length)], flags, (address, address_length));
        }
        in_turn(fd, flags, |flags| real::sendto(fd, buffer, length, flags, address, address_length))
    };
    sendmsg(fd: c_int, message: *const libc::msghdr, flags: c_int) -> isize = |fd, message: *const libc::msghdr, flags| {
        let name: (*const libc::sockaddr, _) = ((*message).msg_name.cast(), (*message).msg_namelen);
        if is_simulated(fd) && !sockets::leaves_to(fd, name.0, name.1) {
            return sockets::send_message(fd, &*message, flags);
        }
        in_turn(fd, flags, |flags| real::sendmsg(fd, message, flags))
    };
    sendmmsg(fd: c_int, messages: *mut libc::mmsghdr, count: u32, flags: c_int) -> c_int
        = |fd, messages: *mut libc::mmsghdr, count: u32, flags| {
            let count = count.min(MOST_MESSAGES);
            for sent in 0..count {
                let message = messages.wrapping_add(sent as usize);
                match sendmsg(fd, &raw const (*message).msg_hdr, flags) {
                    length @ 0.. => (*message).msg_len = length as u32,
                    _ if sent > 0 => return sent as c_int,
                    _ => return -1,
                }
            }
            count as c_int
        };
}

/// The kernel's `UIO_MAXIOV`.
const MOST_MESSAGES: u32 = 1_024;

/// The reader of what the process prints is another process, and does not need the turn.
fn may_wait(fd: c_int) -> bool {
    fd > libc::STDERR_FILENO && real::is_blocking(fd)
}

/// The first buffer that is not empty.
unsafe fn first(buffers: *const libc::iovec, count: c_int) -> Option<libc::iovec> {
    // SAFETY: the caller vouches for the buffers.
    (0..count.max(0) as usize).map(|place| unsafe { *buffers.wrapping_add(place) }).find(|buffer| buffer.iov_len > 0)
}

unsafe fn write_some(fd: c_int, buffer: *const c_void, length: usize) -> isize {
    match real::kind(fd) {
        // SAFETY: the caller vouches for the buffer.
        libc::S_IFSOCK => in_turn(fd, 0, |flags| unsafe { real::send(fd, buffer, length, flags) }),
        libc::S_IFIFO => {
            wait_until_ready(fd, libc::POLLOUT);
            // A pipe that is ready has room for so many bytes.
            // SAFETY: as above.
            unsafe { real::write(fd, buffer, length.min(libc::PIPE_BUF)) }
        }
        // SAFETY: as above.
        _ => unsafe { real::write(fd, buffer, length) },
    }
}

/// Sends without a wait in the kernel, as soon as there is room.
fn in_turn(fd: c_int, flags: c_int, send: impl Fn(c_int) -> isize) -> isize {
    let may_wait = flags & libc::MSG_DONTWAIT == 0 && real::is_blocking(fd);
    let send = || send(flags | libc::MSG_DONTWAIT);
    if may_wait { until_there_is_room(fd, send) } else { send() }
}
