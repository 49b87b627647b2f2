//! `SO_PEERCRED`.
//!
//! rustix has this too, but assumes that the process number is never 0. It is 0 if this process
//! can't see the other one.
#![allow(unsafe_code, reason = "getsockopt writes through a pointer")]

use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::{io, mem};

use crate::net::unix::UCred;

pub(crate) fn peer_cred(stream: &UnixStream) -> io::Result<UCred> {
    let mut cred = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open while `stream` exists. The kernel writes at most `size` bytes,
    // the size of `cred`, and any bytes are a valid `ucred`. Both pointers are valid during the
    // call, and the kernel keeps neither.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut cred).cast(), &raw mut size)
    };
    match result {
        0 => Ok(UCred { pid: Some(cred.pid), uid: cred.uid, gid: cred.gid }),
        _ => Err(io::Error::last_os_error()),
    }
}
