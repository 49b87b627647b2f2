//! Calls that wait for a descriptor: they give the turn away first.

use std::ffi::{c_int, c_void};

use crate::seeded::descriptors::wait_until_ready;
use crate::seeded::state::with;
use crate::seeded::threads::Wait;
use crate::seeded::{real, time, turn};

interposed! {
    epoll_wait(epoll: c_int, events: *mut libc::epoll_event, most: c_int, timeout: c_int) -> c_int = wait_for_events;
    poll(fds: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int = wait_for_some;
    read(fd: c_int, buffer: *mut c_void, length: usize) -> isize = |fd, buffer, length| {
        wait_until_ready(fd, libc::POLLIN);
        real::read(fd, buffer, length)
    };
    readv(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize = |fd, buffers, count| {
        wait_until_ready(fd, libc::POLLIN);
        real::readv(fd, buffers, count)
    };
    recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize = |fd, buffer, length, flags| {
        wait_for_input(fd, flags);
        real::recv(fd, buffer, length, flags)
    };
    recvfrom(
        fd: c_int,
        buffer: *mut c_void,
        length: usize,
        flags: c_int,
        address: *mut libc::sockaddr,
        address_length: *mut libc::socklen_t
    ) -> isize = |fd, buffer, length, flags, address, address_length| {
        wait_for_input(fd, flags);
        real::recvfrom(fd, buffer, length, flags, address, address_length)
    };
    recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize = |fd, message, flags| {
        wait_for_input(fd, flags);
        real::recvmsg(fd, message, flags)
    };
    select(
        count: c_int,
        readable: *mut libc::fd_set,
        writable: *mut libc::fd_set,
        exceptional: *mut libc::fd_set,
        timeout: *mut libc::timeval
    ) -> c_int = select_some;
    accept4(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t, flags: c_int) -> c_int
        = |fd, address, length, flags| {
            wait_until_ready(fd, libc::POLLIN);
            real::accept4(fd, address, length, flags)
        };
}

fn wait_for_input(fd: c_int, flags: c_int) {
    if flags & libc::MSG_DONTWAIT == 0 {
        wait_until_ready(fd, libc::POLLIN);
    }
}

/// The events that are there when this thread has the turn.
unsafe fn wait_for_events(epoll: c_int, events: *mut libc::epoll_event, most: c_int, timeout: c_int) -> c_int {
    turn::pause();
    // SAFETY: the caller vouches for the arguments.
    let look = || unsafe { real::epoll_wait(epoll, events, most, 0) };
    let mut count = look();
    if count == 0 && timeout != 0 {
        let fds = vec![libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 }];
        turn::wait(Wait::Descriptors { fds, deadline: deadline(timeout) });
        count = look();
    }
    with(|state| state.decisions.event("events", count as u64));
    count
}

unsafe fn wait_for_some(fds: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    let look = || unsafe { real::poll(fds, count, 0) };
    let ready = look();
    if ready != 0 || timeout == 0 {
        return ready;
    }
    let fds = match count {
        0 => Vec::new(),
        // SAFETY: as above.
        _ => unsafe { std::slice::from_raw_parts(fds, count as usize) }.to_vec(),
    };
    turn::wait(Wait::Descriptors { fds, deadline: deadline(timeout) });
    look()
}

/// Waits by `poll`, and asks the kernel when one of them is ready or the time is up.
unsafe fn select_some(
    count: c_int,
    readable: *mut libc::fd_set,
    writable: *mut libc::fd_set,
    exceptional: *mut libc::fd_set,
    timeout: *mut libc::timeval,
) -> c_int {
    // SAFETY: the caller vouches for the pointers, which may be null.
    let has = |set: *mut libc::fd_set, fd| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
    let fds = (0..count).filter_map(|fd| {
        let wanted = [(readable, libc::POLLIN), (writable, libc::POLLOUT), (exceptional, libc::POLLPRI)];
        let events = wanted.into_iter().filter(|(set, _)| has(*set, fd)).fold(0, |all, (_, event)| all | event);
        (events != 0).then_some(libc::pollfd { fd, events, revents: 0 })
    });
    let mut fds: Vec<_> = fds.collect();
    // SAFETY: as above.
    let deadline = unsafe { timeout.as_ref() }
        .map(|limit| time::after(&libc::timespec { tv_sec: limit.tv_sec, tv_nsec: limit.tv_usec * 1_000 }));
    if real::poll_for(&mut fds, 0) == 0 {
        turn::wait(Wait::Descriptors { fds, deadline });
    }
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: as above.
    unsafe { real::select(count, readable, writable, exceptional, &raw mut now) }
}

/// `None`: a timeout below zero, which never ends.
fn deadline(milliseconds: c_int) -> Option<u64> {
    let (tv_sec, tv_nsec) = (milliseconds / 1_000, milliseconds % 1_000 * 1_000_000);
    let limit = libc::timespec { tv_sec: tv_sec.into(), tv_nsec: tv_nsec.into() };
    (milliseconds >= 0).then(|| time::after(&limit))
}
