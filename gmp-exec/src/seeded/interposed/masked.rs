//! Calls that wait for descriptors with another mask of signals.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use super::descriptors::{limit, select_some, wait_for_events, wait_for_some};

interposed! {
    ppoll(fds: *mut libc::pollfd, count: libc::nfds_t, limit: *const libc::timespec, mask: *const libc::sigset_t) -> c_int
        = |fds, count, limit: *const libc::timespec, mask| with_mask(mask, || wait_for_some(fds, count, limit.as_ref().copied()));
    pselect(
        count: c_int,
        readable: *mut libc::fd_set,
        writable: *mut libc::fd_set,
        exceptional: *mut libc::fd_set,
        limit: *const libc::timespec,
        mask: *const libc::sigset_t
    ) -> c_int = |count, readable, writable, exceptional, limit: *const libc::timespec, mask| {
        with_mask(mask, || select_some(count, [readable, writable, exceptional], limit.as_ref().copied()))
    };
    epoll_pwait(
        epoll: c_int,
        events: *mut libc::epoll_event,
        most: c_int,
        timeout: c_int,
        mask: *const libc::sigset_t
    ) -> c_int = |epoll, events, most, timeout, mask| {
        with_mask(mask, || wait_for_events(epoll, events, most, limit(timeout)))
    };
    epoll_pwait2(
        epoll: c_int,
        events: *mut libc::epoll_event,
        most: c_int,
        limit: *const libc::timespec,
        mask: *const libc::sigset_t
    ) -> c_int = |epoll, events, most, limit: *const libc::timespec, mask| {
        with_mask(mask, || wait_for_events(epoll, events, most, limit.as_ref().copied()))
    };
}

/// # Safety
///
/// The mask is null, or valid.
unsafe fn with_mask<R>(mask: *const libc::sigset_t, call: impl FnOnce() -> R) -> R {
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the caller vouches for the mask, and the other pointer is valid.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask, before.as_mut_ptr()) };
    let result = call();
    // SAFETY: the call above has written this mask; the other pointer may be null.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
