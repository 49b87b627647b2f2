//! The end of a run that takes too much real time: a thread that keeps its turn, as in a loop that spins,
//! is told with its line.
//!
//! `cargo gmp test` and `#[gmp_exec::test(seeds)]` send SIGVTALRM then, which ends a program without gmp,
//! too. The kernel gives the signal to any thread, and the handler passes the signal on to the thread that
//! has the turn.
#![allow(unsafe_code, reason = "runs in a signal handler, and sends the signal")]

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::*;

use super::state::{self, own, with};
use super::{ending, real};
use crate::sys::errno::Errno;
use crate::sys::sigaction::{self, Handler};
use crate::sys::stderr;

const SIGNAL: c_int = libc::SIGVTALRM;

/// The kernel's number of the thread that has the turn; 0 while the turn is passed on. Relaxed: a thread
/// that reads its own number has stored it, and has not passed the turn on since. A thread that reads an
/// old number of another one sends the signal to a thread that passes it on in turn.
static HOLDER: AtomicI32 = AtomicI32::new(0);

/// The line and the task at which a handler with this context has interrupted its thread.
type Place = fn(*const c_void) -> String;
static PLACE: OnceLock<Place> = OnceLock::new();

/// Called by `runtime`, which may name what reads stacks.
pub(crate) fn set_place(place: Place) {
    let _ = PLACE.set(place);
}

/// A run is possible without the handler.
pub(super) fn watch() {
    let _ = sigaction::set(SIGNAL, on_signal as Handler as libc::sighandler_t, 0);
}

/// This thread has the turn.
pub(super) fn note_holder(tid: i32) {
    HOLDER.store(tid, Relaxed);
}

/// The turn is about to be passed on.
pub(super) fn forget_holder() {
    HOLDER.store(0, Relaxed);
}

/// A signal that comes at the wrong moment has no effect, because the sender repeats the signal until the
/// process has ended.
extern "C" fn on_signal(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    let errno = Errno::save();
    // SAFETY: the call touches no memory.
    let own = unsafe { libc::gettid() };
    match HOLDER.load(Relaxed) {
        0 => {}
        // The thread is changing the state. At any other moment the thread borrows nothing of the state.
        holder if holder == own && state::is_inside() => {}
        holder if holder == own => end(context),
        holder => real::signal(holder, SIGNAL),
    }
    errno.restore();
}

/// Called by the handler, on the thread that has the turn. The process ends, so what the handler calls may be
/// more than a handler may call; if a lock stops it, the process is killed.
fn end(context: *const c_void) -> ! {
    let (seed, thread, others) = with(|state| {
        let thread = ending::numbered(state, own());
        (state.settings.seed, thread, ending::waits_of_others(state, own()))
    });
    // What follows is no part of the run.
    state::leave();
    let place = PLACE.get().map_or_else(String::new, |place| place(context));
    stderr::try_write(&format!("gmp: seed {seed:x}: time is up: {thread} has the turn{place}\n{others}"));
    ending::exit()
}
