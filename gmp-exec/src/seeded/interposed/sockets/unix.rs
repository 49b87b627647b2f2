//! Unix sockets are the kernel's. A call that reads from a stream may get fewer bytes than are there.

use std::ffi::c_int;

use super::{in_kernel, room};
use crate::seeded::real;

/// Calls `receive` with the buffers, or with less room.
///
/// # Safety
///
/// The buffers are valid.
pub(in crate::seeded::interposed) unsafe fn receive_some(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    receive: impl FnOnce(&[libc::iovec]) -> isize,
) -> isize {
    let left = left_by(fd, buffers, flags);
    if left == 0 {
        return receive(buffers);
    }
    let received = receive(&without_end(buffers, left));
    if received > 0 {
        // As if the rest had just arrived: a program may wait for the next event after a short read.
        in_kernel(|net| net.edge(fd));
    }
    received
}

/// How much room of the buffers is not used.
fn left_by(fd: c_int, buffers: &[libc::iovec], flags: c_int) -> usize {
    if flags & (libc::MSG_PEEK | libc::MSG_WAITALL) != 0 || !real::is_unix_stream(fd) {
        return 0;
    }
    let room = room(buffers);
    let count = real::available(fd).min(room);
    match in_kernel(|net| net.unread(count)) {
        0 => 0,
        unread => room - (count - unread),
    }
}

fn without_end(buffers: &[libc::iovec], mut left: usize) -> Vec<libc::iovec> {
    let mut buffers = buffers.to_vec();
    for buffer in buffers.iter_mut().rev() {
        let less = left.min(buffer.iov_len);
        (buffer.iov_len, left) = (buffer.iov_len - less, left - less);
    }
    buffers
}
