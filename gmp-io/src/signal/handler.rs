//! The code that runs in a signal handler.
#![allow(unsafe_code, reason = "a signal handler may do next to nothing, and the compiler can't check that")]

use std::io;
use std::os::raw::c_int;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Installs a handler: each signal of this number first sets `flag` and then writes a byte into
/// `pipe`, which is non-blocking.
///
/// `number` must not be one of [`FORBIDDEN`](signal_hook_registry::FORBIDDEN), which can't be
/// caught.
///
/// # Errors
///
/// The system knows no such signal.
pub(crate) fn install(number: c_int, flag: &'static AtomicBool, pipe: &'static UnixStream) -> io::Result<()> {
    let action = move || {
        flag.store(true, SeqCst);
        // A full pipe needs no further byte: the reactor that empties it looks at the flags
        // afterwards.
        let _ = rustix::io::write(pipe, &[0]);
    };
    // SAFETY: the action must be async-signal-safe and must not panic. It consists of an atomic
    // store and one `write` that doesn't wait. It takes no lock, allocates nothing, and its
    // references are `'static`. The registry saves `errno`.
    unsafe { signal_hook_registry::register(number, action) }.map(drop)
}
