//! The last words of a process that ends before its runtimes do: the summary of `GMP_BLOCKED`, and the
//! file of `GMP_TRACE`. Without these settings nothing here is installed.
//!
//! | the end | the writer |
//! |---|---|
//! | `exit`, and the return from `main` | the thread that ends the process (`atexit`) |
//! | SIGTERM, SIGINT, if the program has no handler | the thread "gmp-ending"; then the signal's default |
//! | `abort`, as after a panic that can't unwind | the same thread; the one that aborts waits for it |
//!
//! A handler that the program installs later replaces gmp's, or calls it first. So gmp's thread ends
//! the process only if the handler is still gmp's.
#![allow(unsafe_code, reason = "runs in signal handlers, and when the process exits")]

use std::io::{self, Read};
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::thread;
use std::time::Duration;

use super::quit::runtimes;
use crate::sys::errno::Errno;
use crate::sys::sigaction::{self, Handler};
use crate::sys::stderr;

static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The process that has the thread. A copy of it (`fork`) has the handlers and the pipe, too.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// A thread that aborts waits no longer for the last words. In a program that is not optimised, reading
/// the line numbers takes 2 s of CPU time, and several times as long beside other programs.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(1);

/// # Errors
///
/// Fails if the system has no descriptor or no thread to give.
pub(super) fn watch() -> io::Result<()> {
    let (reader, writer) = UnixStream::pair()?;
    writer.set_nonblocking(true)?;
    PIPE.store(writer.into_raw_fd(), Relaxed);
    PROCESS.store(own_process(), Relaxed);
    thread::Builder::new().name("gmp-ending".to_owned()).spawn(move || wait(reader))?;
    // SAFETY: the function does not unwind.
    unsafe { libc::atexit(at_exit) };
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGABRT] {
        if sigaction::current(signal) == Some(libc::SIG_DFL) {
            sigaction::set(signal, on_signal as Handler as libc::sighandler_t, libc::SA_ONSTACK)?;
        }
    }
    Ok(())
}

extern "C" fn at_exit() {
    if PROCESS.load(Relaxed) == own_process() {
        write();
    }
}

extern "C" fn on_signal(signal: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = Errno::save();
    if PROCESS.load(Relaxed) == own_process() {
        tell_thread(signal)
    } else {
        end_copy(signal)
    }
    errno.restore();
}

fn tell_thread(signal: libc::c_int) {
    let (pipe, signal): (RawFd, _) = (PIPE.load(Relaxed), signal as u8);
    // SAFETY: the buffer is valid for its length. `write` may be called in a handler.
    unsafe { libc::write(pipe, (&raw const signal).cast(), 1) };
    if i32::from(signal) == libc::SIGABRT {
        // The process ends when this handler returns.
        let pauses = PATIENCE.as_millis() / PAUSE.as_millis();
        (0..pauses).take_while(|_| !IS_WRITTEN.load(Acquire)).for_each(|_| thread::sleep(PAUSE));
    }
}

/// Without last words, which only the process itself has. `abort` ends the copy anyway.
fn end_copy(signal: libc::c_int) {
    if signal != libc::SIGABRT {
        take_default(signal);
    }
}

fn wait(mut signals: UnixStream) {
    let mut signal = [0];
    while signals.read_exact(&mut signal).is_ok() {
        let signal = i32::from(signal[0]);
        let is_own = sigaction::current(signal) == Some(on_signal as Handler as libc::sighandler_t);
        if signal == libc::SIGABRT {
            write();
        } else if is_own {
            write();
            take_default(signal);
        }
    }
}

/// The signal ends the process, as if there had been no handler.
fn take_default(signal: libc::c_int) {
    let _ = sigaction::set(signal, libc::SIG_DFL, 0);
    // SAFETY: it has no preconditions.
    unsafe { libc::kill(own_process(), signal) };
}

fn own_process() -> libc::pid_t {
    std::process::id() as libc::pid_t
}

/// Once: the thread that exits may be followed by a signal.
fn write() {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    if HAS_BEGUN.swap(true, Relaxed) {
        return;
    }
    for runtime in runtimes() {
        if let Some(text) = runtime.observers.blocked.last_words() {
            stderr::try_write(&text);
        }
        runtime.observers.recorded.write_last(&runtime);
    }
    IS_WRITTEN.store(true, Release);
}
