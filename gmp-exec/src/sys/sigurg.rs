//! SIGURG, by which a process of the same user asks for the tasks (`dump::asked`), and by which the
//! report thread interrupts a thread that computes (`blocked::stack::signal`).
//!
//! The default of SIGURG is to be ignored, so the signal does no harm to a process that does not
//! expect it, and Go uses it, too. gmp's handler is installed only while the program has none and
//! does not ignore the signal. Children have the default, as their parent's handlers never pass
//! `exec`.
//!
//! A handler may interrupt a thread inside `malloc`, so it may not allocate and not start a thread.
//! But a thread that sleeps for lack of work is in [`asleep`], where it only waits in the kernel and
//! holds no lock that anything else takes. There the handler may do what any code may.
//!
//! The handler uses the thread's own stack (no `SA_ONSTACK`): to start a thread takes more than
//! std's alternative stacks have.
#![allow(unsafe_code, reason = "runs in a signal handler")]

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, compiler_fence};

use crate::sys::errno::Errno;
use crate::sys::sigaction::{self, Handler};

thread_local! {
    /// Only this thread and its handlers use it.
    static ASLEEP: AtomicBool = const { AtomicBool::new(false) };
}

/// Calls `sleep`, which waits in the kernel and neither allocates nor takes a lock.
#[inline]
pub(crate) fn asleep<R>(sleep: impl FnOnce() -> R) -> R {
    struct Awake;
    impl Drop for Awake {
        fn drop(&mut self) {
            set_asleep(false);
        }
    }
    set_asleep(true);
    let _awake = Awake;
    sleep()
}

#[inline]
fn set_asleep(is_asleep: bool) {
    compiler_fence(SeqCst);
    ASLEEP.with(|asleep| asleep.store(is_asleep, Relaxed));
    compiler_fence(SeqCst);
}

/// Whether a handler has interrupted a sleep.
pub(crate) fn is_asleep() -> bool {
    ASLEEP.with(|asleep| asleep.load(Relaxed))
}

/// The sender of the signal, and where the thread was interrupted.
pub(crate) struct Sent {
    /// A process that has sent it by `kill`.
    pub(crate) by_process: Option<i32>,
    #[cfg_attr(
        not(all(
            feature = "blocked-stacks",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64"),
            not(any(loom, shuttle))
        )),
        expect(dead_code, reason = "only stacks are taken from it")
    )]
    pub(crate) context: *const libc::c_void,
}

/// What a handler calls. The function does only what a handler may do.
pub(crate) type Part = fn(&Sent);

pub(crate) static QUESTIONS: OnceLock<Part> = OnceLock::new();
pub(crate) static STACKS: OnceLock<Part> = OnceLock::new();

/// Makes sure that the handler is installed, and calls this part of it: a program may bring a
/// handler of its own at any time.
///
/// # Errors
///
/// Why it is not installed, in words.
pub(crate) fn install(part: &OnceLock<Part>, function: Part) -> Result<(), String> {
    part.get_or_init(|| function);
    match sigaction::current(libc::SIGURG) {
        Some(handler) if handler == on_signal as Handler as libc::sighandler_t => Ok(()),
        Some(libc::SIG_DFL) => {
            let handler = on_signal as Handler as libc::sighandler_t;
            sigaction::set(libc::SIGURG, handler, 0).map_err(|error| format!("SIGURG: {error}"))
        }
        Some(libc::SIG_IGN) => Err("the program ignores SIGURG".to_owned()),
        _ => Err("the program handles SIGURG itself".to_owned()),
    }
}

extern "C" fn on_signal(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let errno = Errno::save();
    let sent = Sent { by_process: sender(info), context: context.cast() };
    [&QUESTIONS, &STACKS].into_iter().filter_map(OnceLock::get).for_each(|part| part(&sent));
    errno.restore();
}

fn sender(info: *mut libc::siginfo_t) -> Option<i32> {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler with `SA_SIGINFO`.
    let info = unsafe { info.as_ref() }?;
    // SAFETY: the field is valid for a signal that a process has sent by `kill`.
    let process = || unsafe { info.si_pid() };
    // 0 stands for a process that this one can't see.
    (info.si_code == libc::SI_USER).then(process).filter(|&process| process > 0)
}
