//! `syscall`, through which std and parking_lot reach the futexes. The C library's has any number
//! of arguments; on the architectures of this module seven words are passed in the same way.

use std::ffi::{c_int, c_long};

use super::random::fill;
use super::{set_errno, simulation};
use crate::seeded::state::with;
use crate::seeded::{futex, real};

interposed! {
    syscall(n: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long = call;
}

/// Calls that let nothing in which is not the same in each run.
const HARMLESS: [c_long; 10] = [
    libc::SYS_gettid,
    libc::SYS_membarrier,
    libc::SYS_statx,
    libc::SYS_memfd_create,
    libc::SYS_pidfd_open,
    libc::SYS_clone3,
    libc::SYS_copy_file_range,
    libc::SYS_sched_getattr,
    libc::SYS_sched_setattr,
    libc::SYS_close_range,
];

unsafe fn call(n: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    if n == libc::SYS_futex {
        // SAFETY: the caller vouches for the arguments.
        if let Some(result) = unsafe { futex::call(a, b as i32, c as u32, d, f as u32) } {
            return returned(result);
        }
    }
    if n == simulation::NUMBER {
        // SAFETY: as above.
        return returned(unsafe { simulation::call(a, b, c, d) });
    }
    if n == libc::SYS_getrandom {
        // SAFETY: as above.
        return unsafe { fill(a as *mut u8, b, c as u32) } as c_long;
    }
    // quinn-udp 0.4 sends and receives by these numbers. The functions called here are those that replace
    // the C library's.
    if n == libc::SYS_sendmmsg {
        // SAFETY: as above.
        return c_long::from(unsafe { libc::sendmmsg(a as c_int, b as *mut _, c as u32, d as c_int) });
    }
    if n == libc::SYS_recvmmsg {
        // SAFETY: as above.
        return c_long::from(unsafe { libc::recvmmsg(a as c_int, b as *mut _, c as u32, d as c_int, e as *mut _) });
    }
    if !HARMLESS.contains(&n) {
        with(|state| state.note_outside(&format!("system call {n}")));
    }
    // SAFETY: as above.
    unsafe { real::syscall(n, a, b, c, d, e, f) }
}

fn returned(result: i64) -> c_long {
    if result < 0 {
        set_errno(-result as i32);
        return -1;
    }
    result
}
