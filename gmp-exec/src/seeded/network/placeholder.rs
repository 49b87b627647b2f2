//! The kernel's socket behind a simulated one: it keeps the options (README.md, "The placeholder").
#![allow(unsafe_code, reason = "calls the C library")]

use std::ffi::{c_int, c_void};
use std::mem::size_of;

use crate::seeded::real;

/// Those that matter to the network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) reuses_address: bool,
    pub(super) reuses_port: bool,
    pub(super) is_v6_only: bool,
    /// Datagrams may go to all hosts.
    pub(super) may_broadcast: bool,
    /// Receivers learn where datagrams were sent to, those of IPv4 and those in the form of IPv6.
    pub(super) tells_destination: [bool; 2],
    /// `close` sends `Reset`.
    pub(super) resets_at_close: bool,
    pub(super) send_buffer: usize,
    pub(super) receive_buffer: usize,
}

pub(super) fn options(fd: c_int) -> Options {
    let number = |name| get::<c_int>(fd, libc::SOL_SOCKET, name).unwrap_or(0);
    let is_on = |level, name| get::<c_int>(fd, level, name).is_some_and(|on| on != 0);
    let linger = get::<libc::linger>(fd, libc::SOL_SOCKET, libc::SO_LINGER);
    Options {
        reuses_address: number(libc::SO_REUSEADDR) != 0,
        reuses_port: number(libc::SO_REUSEPORT) != 0,
        is_v6_only: is_on(libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
        may_broadcast: number(libc::SO_BROADCAST) != 0,
        tells_destination: [
            is_on(libc::IPPROTO_IP, libc::IP_PKTINFO),
            is_on(libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO),
        ],
        resets_at_close: linger.is_some_and(|linger| linger.l_onoff != 0 && linger.l_linger == 0),
        send_buffer: number(libc::SO_SNDBUF) as usize,
        receive_buffer: number(libc::SO_RCVBUF) as usize,
    }
}

/// What an accepted socket has of its listener.
pub(in crate::seeded) fn copy_options(from: c_int, to: c_int) {
    let numbers = [
        (libc::SOL_SOCKET, libc::SO_REUSEADDR),
        (libc::SOL_SOCKET, libc::SO_REUSEPORT),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE),
        (libc::SOL_SOCKET, libc::SO_OOBINLINE),
        (libc::IPPROTO_TCP, libc::TCP_NODELAY),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL),
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT),
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
        (libc::IPPROTO_IP, libc::IP_TTL),
        (libc::IPPROTO_IP, libc::IP_TOS),
        (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
    ];
    for (level, name) in numbers {
        copy::<c_int>(from, to, level, name, |value| value);
    }
    // The kernel doubles what it is given.
    for name in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
        copy::<c_int>(from, to, libc::SOL_SOCKET, name, |value| value / 2);
    }
    copy::<libc::linger>(from, to, libc::SOL_SOCKET, libc::SO_LINGER, |value| value);
    for name in [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO] {
        copy::<libc::timeval>(from, to, libc::SOL_SOCKET, name, |value| value);
    }
}

/// How long a blocking call may wait; `None`: for ever.
pub(in crate::seeded) fn timeout(fd: c_int, name: c_int) -> Option<libc::timespec> {
    let limit = get::<libc::timeval>(fd, libc::SOL_SOCKET, name)?;
    let limit = libc::timespec { tv_sec: limit.tv_sec, tv_nsec: limit.tv_usec * 1_000 };
    (limit.tv_sec != 0 || limit.tv_nsec != 0).then_some(limit)
}

fn copy<T: Copy>(from: c_int, to: c_int, level: c_int, name: c_int, change: impl Fn(T) -> T) {
    if let Some(value) = get::<T>(from, level, name) {
        let value = change(value);
        // SAFETY: the pointer is valid for the length.
        unsafe { real::setsockopt(to, level, name, (&raw const value).cast(), size_of::<T>() as u32) };
    }
}

/// Of types for which all bytes are values.
fn get<T: Copy>(fd: c_int, level: c_int, name: c_int) -> Option<T> {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the pointers are valid.
    let got = unsafe { real::getsockopt(fd, level, name, value.as_mut_ptr().cast::<c_void>(), &raw mut length) };
    // SAFETY: zeroes are a value of the types that are asked for here, and so is what the kernel wrote.
    (got == 0).then(|| unsafe { value.assume_init() })
}
