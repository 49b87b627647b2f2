//! Calls that wait for a descriptor: they give the turn away first.

use std::ffi::{c_int, c_void};

use super::sockets::{self, is_simulated, part, receive_some, room, slices};
use super::{set_errno, waits_in_vain};
use crate::seeded::descriptors::look;
use crate::seeded::state::with;
use crate::seeded::threads::Wait;
use crate::seeded::{real, time, turn};

interposed! {
    epoll_wait(epoll: c_int, events: *mut libc::epoll_event, most: c_int, timeout: c_int) -> c_int
        = |epoll, events, most, timeout| wait_for_events(epoll, events, most, limit(timeout));
    poll(fds: *mut libc::pollfd, count: libc::nfds_t, timeout: c_int) -> c_int
        = |fds, count, timeout| wait_for_some(fds, count, limit(timeout));
    read(fd: c_int, buffer: *mut c_void, length: usize) -> isize = |fd, buffer: *mut c_void, length| {
        if is_simulated(fd) {
            return read_simulated(fd, &[part(buffer, length)]);
        }
        if length > 0 && waits_for_input_in_vain(fd, 0) {
            return -1;
        }
        receive_some(fd, &[part(buffer, length)], 0, |parts| real::read(fd, parts[0].iov_base, parts[0].iov_len))
    };
    readv(fd: c_int, buffers: *const libc::iovec, count: c_int) -> isize = |fd, buffers, count: c_int| {
        if is_simulated(fd) {
            return read_simulated(fd, slices(buffers, count.max(0) as usize));
        }
        let parts = slices(buffers, count.max(0) as usize);
        if room(parts) > 0 && waits_for_input_in_vain(fd, 0) {
            return -1;
        }
        receive_some(fd, parts, 0, |parts| real::readv(fd, parts.as_ptr(), count))
    };
    recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> isize = |fd, buffer: *mut c_void, length, flags| {
        if is_simulated(fd) {
            return sockets::receive(fd, &[part(buffer, length)], flags);
        }
        if waits_for_input_in_vain(fd, flags) {
            return -1;
        }
        receive_some(fd, &[part(buffer, length)], flags, |parts| real::recv(fd, buffer, parts[0].iov_len, flags))
    };
    recvfrom(
        fd: c_int,
        buffer: *mut c_void,
        length: usize,
        flags: c_int,
        address: *mut libc::sockaddr,
        address_length: *mut libc::socklen_t
    ) -> isize = |fd, buffer: *mut c_void, length, flags, address, address_length| {
        if is_simulated(fd) {
            return sockets::receive_from(fd, &[part(buffer, length)], flags, (address, address_length));
        }
        if waits_for_input_in_vain(fd, flags) {
            return -1;
        }
        receive_some(fd, &[part(buffer, length)], flags, |parts| {
            real::recvfrom(fd, buffer, parts[0].iov_len, flags, address, address_length)
        })
    };
    recvmsg(fd: c_int, message: *mut libc::msghdr, flags: c_int) -> isize = |fd, message: *mut libc::msghdr, flags| {
        if is_simulated(fd) {
            return sockets::receive_message(fd, &mut *message, flags);
        }
        if waits_for_input_in_vain(fd, flags) {
            return -1;
        }
        let buffers = (*message).msg_iov;
        let received = receive_some(fd, slices(buffers, (*message).msg_iovlen), flags, |parts| {
            (*message).msg_iov = parts.as_ptr().cast_mut();
            real::recvmsg(fd, message, flags)
        });
        (*message).msg_iov = buffers;
        received
    };
    recvmmsg(
        fd: c_int,
        messages: *mut libc::mmsghdr,
        count: u32,
        flags: c_int,
        timeout: *mut libc::timespec
    ) -> c_int = |fd, messages: *mut libc::mmsghdr, count, flags, timeout| {
        if count > 0 && is_simulated(fd) {
            // The caller has to expect one message, however many it asks for.
            let received = recvmsg(fd, &raw mut (*messages).msg_hdr, flags & !libc::MSG_WAITFORONE);
            (*messages).msg_len = received.max(0) as u32;
            return if received < 0 { -1 } else { 1 };
        }
        if waits_for_input_in_vain(fd, flags) {
            return -1;
        }
        real::recvmmsg(fd, messages, count, flags, timeout)
    };
    select(
        count: c_int,
        readable: *mut libc::fd_set,
        writable: *mut libc::fd_set,
        exceptional: *mut libc::fd_set,
        timeout: *mut libc::timeval
    ) -> c_int = |count, readable, writable, exceptional, timeout: *mut libc::timeval| {
        let limit = timeout.as_ref().map(|limit| libc::timespec { tv_sec: limit.tv_sec, tv_nsec: limit.tv_usec * 1_000 });
        select_some(count, [readable, writable, exceptional], limit)
    };
}

/// # Safety
///
/// The buffers are valid.
unsafe fn read_simulated(fd: c_int, buffers: &[libc::iovec]) -> isize {
    // SAFETY: the caller vouches for the buffers.
    if room(buffers) == 0 { 0 } else { unsafe { sockets::receive(fd, buffers, 0) } }
}

/// A listener has no input.
fn waits_for_input_in_vain(fd: c_int, flags: c_int) -> bool {
    flags & libc::MSG_DONTWAIT == 0 && !real::is_listening(fd) && waits_in_vain(fd, libc::POLLIN)
}

/// The events that are there when this thread has the turn.
pub(super) unsafe fn wait_for_events(epoll: c_int, events: *mut libc::epoll_event, most: c_int, limit: Limit) -> c_int {
    turn::pause();
    // SAFETY: the caller vouches for the arguments.
    let look = || unsafe { take_events(epoll, events, most) };
    let mut count = look();
    if count == 0 && !is_over(limit) {
        let fds = vec![libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 }];
        turn::wait(Wait::Descriptors { fds, deadline: limit.as_ref().map(time::after) });
        count = look();
    }
    with(|state| state.decisions.event("events", count as u64));
    count
}

/// The kernel's, and those of simulated sockets.
unsafe fn take_events(epoll: c_int, events: *mut libc::epoll_event, most: c_int) -> c_int {
    // SAFETY: the caller vouches for the arguments.
    let count = unsafe { real::epoll_wait(epoll, events, most, 0) };
    if count < 0 {
        return count;
    }
    let more = with(|state| state.kernel().take_events(epoll, (most - count) as usize));
    for (place, event) in (count as usize..).zip(&more) {
        // SAFETY: as above, and there is room for so many.
        unsafe { events.wrapping_add(place).write_unaligned(*event) };
    }
    count + more.len() as c_int
}

pub(super) unsafe fn wait_for_some(fds: *mut libc::pollfd, count: libc::nfds_t, limit: Limit) -> c_int {
    let fds = match count {
        0 => &mut [],
        // SAFETY: the caller vouches for the arguments.
        _ => unsafe { std::slice::from_raw_parts_mut(fds, count as usize) },
    };
    let ready = look_at(fds);
    if ready != 0 || is_over(limit) {
        return ready;
    }
    turn::wait(Wait::Descriptors { fds: fds.to_vec(), deadline: limit.as_ref().map(time::after) });
    look_at(fds)
}

fn look_at(fds: &mut [libc::pollfd]) -> c_int {
    with(|state| look(&state.network, fds, 0))
}

/// The same as `poll`.
pub(super) unsafe fn select_some(
    count: c_int,
    [readable, writable, exceptional]: [*mut libc::fd_set; 3],
    limit: Limit,
) -> c_int {
    // SAFETY: the caller vouches for the pointers, which may be null.
    let has = |set: *mut libc::fd_set, fd| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
    let sets = [(readable, libc::POLLIN), (writable, libc::POLLOUT), (exceptional, libc::POLLPRI)];
    let fds = (0..count).filter_map(|fd| {
        let events = sets.into_iter().filter(|(set, _)| has(*set, fd)).fold(0, |all, (_, event)| all | event);
        (events != 0).then_some(libc::pollfd { fd, events, revents: 0 })
    });
    let mut fds: Vec<_> = fds.collect();
    if look_at(&mut fds) == 0 {
        turn::wait(Wait::Descriptors { fds: fds.clone(), deadline: limit.as_ref().map(time::after) });
        look_at(&mut fds);
    }
    if fds.iter().any(|fd| fd.revents & libc::POLLNVAL != 0) {
        set_errno(libc::EBADF);
        return -1;
    }
    // What select calls readable and writable includes the end and errors.
    let means = [libc::POLLIN | libc::POLLHUP | libc::POLLERR, libc::POLLOUT | libc::POLLERR, libc::POLLPRI];
    let mut total = 0;
    for ((set, wanted), means) in sets.into_iter().zip(means) {
        for fd in fds.iter().filter(|fd| fd.events & wanted != 0) {
            if fd.revents & means != 0 {
                total += 1;
            } else {
                // SAFETY: as above. The set has had this one.
                unsafe { libc::FD_CLR(fd.fd, set) };
            }
        }
    }
    total
}

/// How long a call may wait; `None`: for ever.
pub(super) type Limit = Option<libc::timespec>;

/// A timeout below zero never ends.
pub(super) fn limit(milliseconds: c_int) -> Limit {
    let (tv_sec, tv_nsec) = (milliseconds / 1_000, milliseconds % 1_000 * 1_000_000);
    (milliseconds >= 0).then_some(libc::timespec { tv_sec: tv_sec.into(), tv_nsec: tv_nsec.into() })
}

fn is_over(limit: Limit) -> bool {
    limit.is_some_and(|limit| limit.tv_sec == 0 && limit.tv_nsec == 0)
}
