//! Descriptors that are copied, closed and watched.

use std::ffi::{c_int, c_ulong};

use super::{in_kernel, is_simulated, number, status};
use crate::seeded::real;
use crate::seeded::state::with;

interposed! {
    close(fd: c_int) -> c_int = |fd| {
        in_kernel(|net| net.close(fd));
        real::close(fd)
    };
    dup(fd: c_int) -> c_int = |fd| copied(fd, real::dup(fd));
    dup2(fd: c_int, to: c_int) -> c_int = |fd, to| replaced(fd, to, real::dup2(fd, to));
    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int = |fd, to, flags| replaced(fd, to, real::dup3(fd, to, flags));
    fcntl(fd: c_int, command: c_int, argument: usize) -> c_int = control;
    fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int = control;
    ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int = |fd, request, argument| {
        if request == libc::FIONREAD && is_simulated(fd) {
            return status(in_kernel(|net| net.available(net.id(fd)?)).map(|count| *(argument as *mut c_int) = count as c_int));
        }
        real::ioctl(fd, request, argument)
    };
    epoll_create1(flags: c_int) -> c_int = |flags| {
        let epoll = real::epoll_create1(flags);
        if epoll >= 0 {
            in_kernel(|net| net.open_epoll(epoll));
        }
        epoll
    };
    epoll_create(size: c_int) -> c_int = |size| if size > 0 { epoll_create1(0) } else { real::epoll_create(size) };
    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int
        = |epoll, operation, fd, event: *mut libc::epoll_event| {
            let none = libc::epoll_event { events: 0, u64: 0 };
            if !is_simulated(fd) {
                let result = real::epoll_ctl(epoll, operation, fd, event);
                if result == 0 {
                    in_kernel(|net| net.watch(epoll, operation, fd, event.as_ref().copied().unwrap_or(none)));
                }
                return result;
            }
            let event = event.as_ref().copied().unwrap_or(none);
            let event = (event.events, event.u64);
            status(in_kernel(|net| net.control(epoll, operation, fd, event)))
        };
    // std copies in a loop if the kernel can't.
    sendfile64(to: c_int, from: c_int, offset: *mut libc::off64_t, count: usize) -> isize = |to, from, offset, count| {
        if is_simulated(to) { number(Err(libc::EINVAL)) } else { real::sendfile64(to, from, offset, count) }
    };
    sendfile(to: c_int, from: c_int, offset: *mut libc::off_t, count: usize) -> isize = sendfile64;
    splice(
        from: c_int,
        from_offset: *mut libc::loff_t,
        to: c_int,
        to_offset: *mut libc::loff_t,
        count: usize,
        flags: u32
    ) -> isize = |from, from_offset, to, to_offset, count, flags| {
        if is_simulated(from) || is_simulated(to) {
            return number(Err(libc::EINVAL));
        }
        real::splice(from, from_offset, to, to_offset, count, flags)
    };
}

unsafe fn control(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the caller vouches for the argument.
    let result = unsafe { real::fcntl(fd, command, argument) };
    if matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC) { copied(fd, result) } else { result }
}

fn copied(fd: c_int, new: c_int) -> c_int {
    if new >= 0 && new != fd {
        with(|state| state.network.duplicate(fd, new));
    }
    new
}

/// The kernel has closed what `to` was before.
fn replaced(fd: c_int, to: c_int, result: c_int) -> c_int {
    if result >= 0 && fd != to {
        in_kernel(|net| net.close(to));
    }
    copied(fd, result)
}
