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
    recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize = |fd, buffer, length, flags| {
        wait_until_ready(fd, libc::POLLIN);
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
        wait_until_ready(fd, libc::POLLIN);
        real::recvfrom(fd, buffer, length, flags, address, address_length)
    };
    accept4(fd: c_int, address: *mut libc::sockaddr, length: *mut libc::socklen_t, flags: c_int) -> c_int
        = |fd, address, length, flags| {
            wait_until_ready(fd, libc::POLLIN);
            real::accept4(fd, address, length, flags)
        };
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

/// `None`: a timeout below zero, which never ends.
fn deadline(milliseconds: c_int) -> Option<u64> {
    let (tv_sec, tv_nsec) = (milliseconds / 1_000, milliseconds % 1_000 * 1_000_000);
    let limit = libc::timespec { tv_sec: tv_sec.into(), tv_nsec: tv_nsec.into() };
    (milliseconds >= 0).then(|| time::after(&limit))
}
