//! Calls that let the outside in. They work, and are named in the report.

use std::ffi::{CStr, c_char, c_int};

use crate::seeded::real;
use crate::seeded::state::with;
use crate::sys::stderr;

interposed! {
    open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int = |path, flags, mode| {
        note_file(CStr::from_ptr(path));
        real::open64(path, flags, mode)
    };
    sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int = |signal, new, old| {
        note_handler(signal, new);
        real::sigaction(signal, new, old)
    };
}

/// Signals whose handlers let nothing in: std's, for a stack that is full, and gmp's, for the stack of a
/// poll.
const HANDLED: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGURG];

/// The seed does not decide when another process sends a signal.
unsafe fn note_handler(signal: c_int, new: *const libc::sigaction) {
    // SAFETY: the caller vouches for the pointer, which may be null.
    let handler = unsafe { new.as_ref() }.map_or(libc::SIG_DFL, |new| new.sa_sigaction);
    if handler != libc::SIG_DFL && handler != libc::SIG_IGN && !HANDLED.contains(&signal) {
        with(|state| state.note_outside(&format!("sigaction {signal}")));
    }
}

/// Connections to other computers. Those to this one may be the program's own.
///
/// # Safety
///
/// As for `connect`.
pub(super) unsafe fn note_foreign(address: *const libc::sockaddr) {
    // SAFETY: the caller vouches for the address, whose family says what it is.
    if i32::from(unsafe { (*address).sa_family }) == libc::AF_INET {
        // SAFETY: as above.
        let address = unsafe { *address.cast::<libc::sockaddr_in>() };
        let ip = std::net::Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
        if !ip.is_loopback() && !ip.is_unspecified() {
            with(|state| {
                state.has_peers = true;
                state.note_outside(&format!("connect {ip}:{}", u16::from_be(address.sin_port)));
            });
        }
    }
}

/// Says once that this is not on the simulated network.
pub(super) fn refuse(what: &str) {
    let seed = with(|state| state.network.refused.insert(what.to_owned()).then_some(state.settings.seed));
    if let Some(seed) = seed {
        stderr::try_write(&format!(
            "gmp: seed {seed:x}: {what} is not on the simulated network; GMP_SEED_NET=real, or --real-net of cargo gmp, allows real connections\n"
        ));
    }
}

/// What the kernel tells of itself is not the outside, nor is what is installed: std reads that at
/// the start, and for backtraces.
const OF_SYSTEM: [&str; 6] = ["/proc/", "/sys/", "/dev/null", "/etc/", "/lib", "/usr/"];

fn note_file(path: &CStr) {
    let path = path.to_string_lossy();
    let is_of_program = || std::env::current_exe().is_ok_and(|program| path.starts_with(&*program.to_string_lossy()));
    if !OF_SYSTEM.iter().any(|system| path.starts_with(system)) && !is_of_program() {
        with(|state| state.note_outside(&format!("open {path}")));
    }
}
