//! Functions of the C library, in whose place the linker takes these: std's calls, and those of
//! other crates, end here. Threads that don't belong to a seeded run get the C library's own.
//!
//! A function that only differs by what it waits for first is one line; the macro `interposed` adds
//! the way past.
#![allow(unsafe_code, reason = "replaces functions of the C library, whose contracts are the callers'")]

/// Defines a function that is called in place of the C library's. `$seeded` is what a thread of a
/// seeded run does.
macro_rules! interposed {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $seeded:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            if $crate::seeded::state::is_controlled() {
                // SAFETY: the caller vouches for the arguments.
                unsafe { $seeded($($argument),*) }
            } else {
                // SAFETY: as above.
                unsafe { $crate::seeded::real::$name($($argument),*) }
            }
        }
    )*};
}

mod blocks;
mod children;
mod clocks;
mod descriptors;
mod masked;
mod memory;
mod names;
mod outputs;
mod outside;
mod random;
mod simulation;
mod sockets;
mod system_call;
mod threads;

pub(super) use memory::is_in_library;

use std::ffi::c_int;
use std::io::{Error, ErrorKind};

use super::descriptors::{deadline, wait_for_room, wait_until_ready};
use super::state::with;

/// Calls until the kernel does not answer that there is no room, or until the socket's limit has passed.
fn until_there_is_room<R: From<i8> + PartialOrd + Copy>(fd: c_int, call: impl Fn() -> R) -> R {
    let limit = deadline(fd, libc::POLLOUT);
    let mut tries = 0;
    loop {
        let result = call();
        let is_full = result < R::from(0) && Error::last_os_error().kind() == ErrorKind::WouldBlock;
        if !is_full || limit.is_some_and(|limit| with(|state| state.now) >= limit) {
            return result;
        }
        wait_for_room(fd, limit, tries);
        tries += 1;
    }
}

/// Waits until a call on the descriptor would not wait. Else the socket's limit for that has passed, and
/// the call fails.
fn waits_in_vain(fd: c_int, events: i16) -> bool {
    let is_late = !wait_until_ready(fd, events);
    if is_late {
        set_errno(libc::EAGAIN);
    }
    is_late
}

fn set_errno(error: i32) {
    // SAFETY: the call always succeeds.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the pointer is that of this thread's `errno`.
    unsafe { *errno = error };
}
