//! Reads and writes of simulated sockets.

use std::ffi::{c_int, c_void};

use super::messages::{receive_from, send_to};
use super::{in_kernel, in_turn, number};
use crate::seeded::network::Answer;
use crate::seeded::real;

/// # Safety
///
/// The buffers are valid.
pub(in crate::seeded::interposed) unsafe fn receive(fd: c_int, buffers: &[libc::iovec], flags: c_int) -> isize {
    if in_kernel(|net| net.is_udp(fd)) {
        let none = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the caller vouches for the buffers.
        return unsafe { receive_from(fd, buffers, flags, none) };
    }
    if flags & libc::MSG_OOB != 0 {
        return number(Err(libc::EINVAL));
    }
    let bytes = receive_bytes(fd, room(buffers), flags);
    if let Ok(bytes) = &bytes {
        // SAFETY: the caller vouches for the buffers, which have so much room.
        unsafe { scatter(bytes, buffers) };
    }
    number(bytes.map(|bytes| bytes.len()))
}

fn receive_bytes(fd: c_int, room: usize, flags: c_int) -> Answer<Vec<u8>> {
    let (peeks, may_wait) = (flags & libc::MSG_PEEK != 0, flags & libc::MSG_DONTWAIT == 0);
    let receive = |room| in_turn(fd, libc::POLLIN, may_wait, |net| net.receive(net.id(fd)?, room, peeks));
    let mut bytes = receive(room)?;
    let wants_all = flags & libc::MSG_WAITALL != 0 && !peeks;
    while wants_all && bytes.len() < room {
        match receive(room - bytes.len()) {
            Ok(more) if !more.is_empty() => bytes.extend(more),
            _ => break,
        }
    }
    Ok(bytes)
}

/// # Safety
///
/// The buffers are valid.
pub(in crate::seeded::interposed) unsafe fn send(fd: c_int, buffers: &[libc::iovec], flags: c_int) -> isize {
    if in_kernel(|net| net.is_udp(fd)) {
        // SAFETY: the caller vouches for the buffers.
        return unsafe { send_to(fd, buffers, flags, (std::ptr::null(), 0)) };
    }
    // SAFETY: the caller vouches for the buffers.
    let bytes = unsafe { gather(buffers) };
    let may_wait = flags & libc::MSG_DONTWAIT == 0 && real::is_blocking(fd);
    let mut sent = 0;
    loop {
        let send = in_turn(fd, libc::POLLOUT, may_wait, |net| net.send(net.id(fd)?, &bytes[sent..], !may_wait));
        match send {
            // A call that may wait takes all bytes.
            Ok(taken) => sent += taken,
            Err(_) if sent > 0 => return number(Ok(sent)),
            Err(error) => return number(Err(error)),
        }
        if !may_wait || sent == bytes.len() {
            return number(Ok(sent));
        }
    }
}

/// # Safety
///
/// The pointer is valid for the count, if that is above 0.
pub(in crate::seeded::interposed) unsafe fn slices<'a>(buffers: *const libc::iovec, count: usize) -> &'a [libc::iovec] {
    // SAFETY: the caller vouches for the pointer.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(buffers, count) } }
}

/// How many bytes the buffers have in all.
pub(in crate::seeded::interposed) fn room(buffers: &[libc::iovec]) -> usize {
    buffers.iter().map(|buffer| buffer.iov_len).sum()
}

/// A buffer alone.
pub(in crate::seeded::interposed) fn part(buffer: *const c_void, length: usize) -> libc::iovec {
    libc::iovec { iov_base: buffer.cast_mut(), iov_len: length }
}

pub(super) unsafe fn gather(buffers: &[libc::iovec]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for buffer in buffers.iter().filter(|buffer| buffer.iov_len > 0) {
        // SAFETY: the caller vouches for the buffers.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(buffer.iov_base.cast(), buffer.iov_len) });
    }
    bytes
}

pub(super) unsafe fn scatter(mut bytes: &[u8], buffers: &[libc::iovec]) {
    for buffer in buffers {
        let (part, rest) = bytes.split_at(bytes.len().min(buffer.iov_len));
        // SAFETY: the caller vouches for the buffer, which has room for the part.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr().cast::<c_void>(), buffer.iov_base, part.len()) };
        bytes = rest;
    }
}
