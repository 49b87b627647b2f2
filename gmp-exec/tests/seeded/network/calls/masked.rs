//! Calls that std does not make: each waits for input for so many milliseconds, or for ever, with a mask.

use std::mem;
use std::os::fd::RawFd;
use std::ptr::null_mut;

use super::{Answer, answer, control, epoll};

pub(crate) type Wait = fn(RawFd, Option<i64>) -> Answer<isize>;

pub(crate) const ALL: [Wait; 4] = [ppoll, pselect, epoll_pwait, epoll_pwait2];

fn timespec(milliseconds: i64) -> libc::timespec {
    libc::timespec { tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000 }
}

fn ppoll(fd: RawFd, limit: Option<i64>) -> Answer<isize> {
    let mut fd = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let (limit, mask) = (limit.map(timespec), all_signals());
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| &raw const *limit);
    // SAFETY: the pointers are valid, or null.
    answer(unsafe { libc::ppoll(&raw mut fd, 1, limit, &raw const mask) } as isize)
}

fn pselect(fd: RawFd, limit: Option<i64>) -> Answer<isize> {
    // SAFETY: zeroes are a value of this type.
    let mut set: libc::fd_set = unsafe { mem::zeroed() };
    // SAFETY: the pointer is valid, and the number is small.
    unsafe { libc::FD_SET(fd, &raw mut set) };
    let (limit, mask) = (limit.map(timespec), all_signals());
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| &raw const *limit);
    // SAFETY: the pointers are valid, or null.
    answer(unsafe { libc::pselect(fd + 1, &raw mut set, null_mut(), null_mut(), limit, &raw const mask) } as isize)
}

fn epoll_pwait(fd: RawFd, limit: Option<i64>) -> Answer<isize> {
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let (limit, mask) = (limit.unwrap_or(-1) as i32, all_signals());
    // SAFETY: the pointers are valid.
    in_epoll(fd, |epoll| unsafe { libc::epoll_pwait(epoll, &raw mut event, 1, limit, &raw const mask) })
}

fn epoll_pwait2(fd: RawFd, limit: Option<i64>) -> Answer<isize> {
    unsafe extern "C" {
        fn epoll_pwait2(
            epoll: i32,
            events: *mut libc::epoll_event,
            most: i32,
            limit: *const libc::timespec,
            mask: *const libc::sigset_t,
        ) -> i32;
    }
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    let (limit, mask) = (limit.map(timespec), all_signals());
    let limit = limit.as_ref().map_or(std::ptr::null(), |limit| &raw const *limit);
    // SAFETY: the pointers are valid, or null.
    in_epoll(fd, |epoll| unsafe { epoll_pwait2(epoll, &raw mut event, 1, limit, &raw const mask) })
}

fn in_epoll(fd: RawFd, wait: impl FnOnce(RawFd) -> i32) -> Answer<isize> {
    let epoll = epoll();
    control(epoll, libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN as u32, 0)?;
    let result = answer(wait(epoll) as isize);
    super::close(epoll)?;
    result
}

fn all_signals() -> libc::sigset_t {
    // SAFETY: zeroes are a value of this type.
    let mut mask: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the pointer is valid.
    unsafe { libc::sigfillset(&raw mut mask) };
    mask
}

/// Whether this thread blocks that signal.
pub(crate) fn is_blocked(signal: i32) -> bool {
    // SAFETY: zeroes are a value of this type.
    let mut mask: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: the pointers are valid, or null.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut mask) };
    // SAFETY: as above.
    unsafe { libc::sigismember(&raw const mask, signal) == 1 }
}

/// The lengths that were sent, by the C library's function or by the number of the system call.
pub(crate) fn send_messages(fd: RawFd, messages: &[&[u8]], by_number: bool) -> Answer<Vec<u32>> {
    let mut parts: Vec<_> = messages.iter().map(|bytes| part(bytes)).collect();
    let header = |part: &mut libc::iovec| {
        // SAFETY: zeroes are a value of this type.
        let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (part, 1);
        message
    };
    let mut headers: Vec<_> = parts.iter_mut().map(header).collect();
    let (pointer, length) = (headers.as_mut_ptr(), headers.len() as u32);
    let sent = if by_number {
        // SAFETY: the pointer is valid for the length.
        (unsafe { libc::syscall(libc::SYS_sendmmsg, fd, pointer, length, 0) }) as isize
    } else {
        // SAFETY: as above.
        (unsafe { libc::sendmmsg(fd, pointer, length, 0) }) as isize
    };
    let count = answer(sent)?;
    Ok(headers[..count as usize].iter().map(|header| header.msg_len).collect())
}

/// The length of a message that is received by the number of the system call.
pub(crate) fn receive_by_number(fd: RawFd, buffer: &mut [u8]) -> Answer<u32> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: zeroes are a value of this type.
    let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
    (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (&raw mut part, 1);
    let limit = null_mut::<libc::timespec>();
    // SAFETY: the pointers are valid, or null.
    answer(unsafe { libc::syscall(libc::SYS_recvmmsg, fd, &raw mut message, 1, 0, limit) } as isize)?;
    Ok(message.msg_len)
}

fn part(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

pub(crate) fn timer() -> Answer<isize> {
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, 0) } as isize)
}

pub(crate) fn send_file(to: RawFd, from: RawFd, count: usize) -> Answer<isize> {
    // SAFETY: the pointer may be null.
    answer(unsafe { libc::sendfile(to, from, null_mut(), count) })
}
