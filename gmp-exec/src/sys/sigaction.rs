//! The handlers of signals, and which signals this thread gets.
#![allow(unsafe_code, reason = "asks for handlers of signals, and installs them; blocks a signal")]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Does only what may be done wherever a thread is interrupted.
pub(crate) type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// `None`: there is no such signal.
pub(crate) fn current(signal: libc::c_int) -> Option<libc::sighandler_t> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: `action` is a valid place for the present action. None is set.
    let result = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all bits 0 is a valid `sigaction`, and the system has perhaps written another one.
    let handler = unsafe { action.assume_init() }.sa_sigaction;
    (result == 0).then_some(handler)
}

/// A handler, or `SIG_DFL`.
pub(crate) fn set(signal: libc::c_int, handler: libc::sighandler_t, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: all bits 0 is a valid `sigaction`: no flags, and an empty mask on all systems here.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | flags;
    // SAFETY: `action` is valid, and handlers do only what a handler may do.
    let result = unsafe { libc::sigaction(signal, &action, ptr::null_mut()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// From now on this thread does not get the signal.
pub(crate) fn block_in_this_thread(signal: libc::c_int) {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` is a valid place for a set of signals.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set has been initialised. A number that is no signal changes nothing.
    unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    // SAFETY: the set has been initialised, and nobody asks for the one before.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut()) };
}
