//! The handler of SIGQUIT, and the pipe by which handlers call the thread that answers.
#![allow(unsafe_code, reason = "runs in a signal handler")]

use std::io::{self, Read};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use crate::sys::errno::Errno;
use crate::sys::sigaction::{self, Handler};

/// The descriptor that the handler writes into. It stays open until the process ends.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Signals on their way to the thread that answers them.
#[derive(Debug)]
pub(super) struct Signals(UnixStream);

impl Signals {
    /// Installs the handler. `None`: the program has one of its own, which stays. A signal that is
    /// ignored is no longer: a shell ignores it for programs that it starts in the background, and
    /// the user who asked for the tasks wants those of such a program, too. Go and the JVM handle
    /// an ignored SIGQUIT, too; they leave an ignored SIGHUP or SIGINT ignored.
    ///
    /// # Errors
    ///
    /// No descriptor is free.
    pub(super) fn install() -> io::Result<Option<Signals>> {
        if ![Some(libc::SIG_DFL), Some(libc::SIG_IGN)].contains(&sigaction::current(libc::SIGQUIT)) {
            return Ok(None);
        }
        let (reader, writer) = UnixStream::pair()?;
        // A signal that finds the pipe full is lost: others wait for an answer already.
        writer.set_nonblocking(true)?;
        PIPE.store(writer.into_raw_fd(), Relaxed);
        sigaction::set(libc::SIGQUIT, on_signal as Handler as libc::sighandler_t, libc::SA_ONSTACK)?;
        Ok(Some(Signals(reader)))
    }

    /// Waits for the next signal. Returns the process that asks; 0: SIGQUIT has come.
    pub(super) fn next(&mut self) -> io::Result<i32> {
        let mut sender = [0; 4];
        self.0.read_exact(&mut sender)?;
        Ok(i32::from_ne_bytes(sender))
    }
}

extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = Errno::save();
    pass_on(0);
    errno.restore();
}

/// Calls the thread, if there is one: this process asks, or 0. Does only what is async-signal-safe: an
/// atomic load, and one `write` that doesn't wait.
pub(super) fn pass_on(sender: i32) -> bool {
    let (pipe, sender): (RawFd, _) = (PIPE.load(Relaxed), sender.to_ne_bytes());
    // SAFETY: the buffer is valid for its length. The descriptor is open, or -1, which is an error
    // that nothing can be done about.
    unsafe { libc::write(pipe, sender.as_ptr().cast(), sender.len()) };
    pipe >= 0
}
