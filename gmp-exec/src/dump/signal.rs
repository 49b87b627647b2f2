//! The handler of SIGQUIT, and the pipe by which handlers call the thread that answers.
#![allow(unsafe_code, reason = "installs a signal handler, and runs in it")]

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

use crate::sys::errno::Errno;

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
        if is_handled() {
            return Ok(None);
        }
        let (reader, writer) = UnixStream::pair()?;
        // A signal that finds the pipe full is lost: others wait for an answer already.
        writer.set_nonblocking(true)?;
        PIPE.store(writer.into_raw_fd(), Relaxed);
        set_handler()?;
        Ok(Some(Signals(reader)))
    }

    /// Waits for the next signal. Returns the process that asks; 0: SIGQUIT has come.
    pub(super) fn next(&mut self) -> io::Result<i32> {
        let mut sender = [0; 4];
        self.0.read_exact(&mut sender)?;
        Ok(i32::from_ne_bytes(sender))
    }
}

fn is_handled() -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: `action` is a valid place for the present action. None is set.
    let result = unsafe { libc::sigaction(libc::SIGQUIT, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bits 0 is a valid `sigaction`, and the system has perhaps written another one.
    let handler = unsafe { action.assume_init() }.sa_sigaction;
    result != 0 || ![libc::SIG_DFL, libc::SIG_IGN].contains(&handler)
}

fn set_handler() -> io::Result<()> {
    // SAFETY: all bits 0 is a valid `sigaction`: no flags, and an empty mask on all systems here.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_signal;
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `action` is valid, and the handler does only what a handler may do.
    let result = unsafe { libc::sigaction(libc::SIGQUIT, &action, ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
