//! Names, options and the end of sockets.

use std::ffi::{c_int, c_void};

use super::{in_kernel, is_simulated, status};
use crate::seeded::network::write_address;
use crate::seeded::real;

interposed! {
    getsockname(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int
        = |fd, address, length| {
            if !is_simulated(fd) {
                return real::getsockname(fd, address, length);
            }
            let name = in_kernel(|net| Ok(net.local_name(net.id(fd)?)));
            status(name.map(|name| write_address(name, address, length)))
        };
    getpeername(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t) -> c_int
        = |fd, address, length| {
            if !is_simulated(fd) {
                return real::getpeername(fd, address, length);
            }
            let name = in_kernel(|net| net.peer_name(net.id(fd)?));
            status(name.map(|name| write_address(name, address, length)))
        };
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut libc::socklen_t) -> c_int
        = |fd, level, name, value, length| {
            // The kernel checks the pointers, and has another answer.
            let result = real::getsockopt(fd, level, name, value, length);
            if result == 0 && level == libc::SOL_SOCKET && *length == 4 && is_simulated(fd) {
                answer(fd, name, value.cast());
            }
            result
        };
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, length: libc::socklen_t) -> c_int
        = |fd, level, name, value, length| {
            let result = real::setsockopt(fd, level, name, value, length);
            if result == 0 {
                in_kernel(|net| net.read_options(fd));
            }
            result
        };
    shutdown(fd: c_int, how: c_int) -> c_int = |fd, how| {
        if is_simulated(fd) {
            status(in_kernel(|net| net.shutdown(net.id(fd)?, how)))
        } else {
            real::shutdown(fd, how)
        }
    };
}

unsafe fn answer(fd: c_int, name: c_int, value: *mut c_int) {
    let answer = in_kernel(|net| {
        let id = net.id(fd).ok()?;
        match name {
            libc::SO_ERROR => Some(net.take_socket_error(id)),
            libc::SO_ACCEPTCONN => Some(c_int::from(net.is_listening(id))),
            _ => None,
        }
    });
    if let Some(answer) = answer {
        // SAFETY: the kernel has written a number there.
        unsafe { value.write_unaligned(answer) };
    }
}
