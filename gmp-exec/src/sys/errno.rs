//! `errno`, for the handlers of signals: the interrupted code may be about to read it.
#![allow(unsafe_code, reason = "writes `errno`")]

use std::io;

/// What `errno` was.
#[must_use = "it must be restored"]
pub(crate) struct Errno(libc::c_int);

impl Errno {
    pub(crate) fn save() -> Errno {
        Errno(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }

    #[cfg(any(target_os = "linux", target_os = "emscripten"))]
    pub(crate) fn restore(self) {
        // SAFETY: it may be called anywhere.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: the address is that of this thread's `errno`, which is always valid.
        unsafe { *errno = self.0 };
    }

    /// `write` to a stream with room changes no `errno`.
    #[cfg(not(any(target_os = "linux", target_os = "emscripten")))]
    pub(crate) fn restore(self) {}
}
