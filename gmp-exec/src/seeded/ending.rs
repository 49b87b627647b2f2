//! How a run ends: with the process, or because it can't go on.
#![allow(unsafe_code, reason = "functions that the C library calls at the end of the process")]

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;

use super::report;
use super::state::{IS_ON, State, is_controlled, with};
use super::threads::{Thread, Wait};
use crate::sys::stderr;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Ok,
    Deadlock,
    Limit,
    Panic,
}

impl End {
    pub(super) fn name(self) -> &'static str {
        match self {
            End::Ok => "ok",
            End::Deadlock => "deadlock",
            End::Limit => "limit",
            End::Panic => "panic",
        }
    }
}

/// The status of a test that fails.
const STATUS: c_int = 101;

/// How many tasks there are, and the dump of all of them.
type Dump = fn() -> (usize, String);
static DUMP: OnceLock<Dump> = OnceLock::new();
/// The last words are being written.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Called by `runtime`, which may name what dumps.
pub(crate) fn set_dump(dump: Dump) {
    let _ = DUMP.set(dump);
}

unsafe extern "C" {
    /// glibc: calls the function at `exit`, with the status.
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

pub(super) fn watch() {
    extern "C" fn at_exit(status: c_int, _: *mut c_void) {
        if is_controlled() {
            write_report(if status == 0 { End::Ok } else { End::Panic });
        }
    }
    extern "C" fn in_copy() {
        IS_ON.store(false, Relaxed);
    }
    // SAFETY: the function does not unwind.
    unsafe { on_exit(at_exit, std::ptr::null_mut()) };
    // A copy of the process has none of the other threads.
    // SAFETY: as above.
    unsafe { libc::pthread_atfork(None, None, Some(in_copy)) };
}

/// The run can't go on. This thread has the turn, and keeps it.
pub(super) fn end(end: End) -> ! {
    give_up_if_begun();
    HAS_BEGUN.store(true, Relaxed);
    write_report(end);
    let (seed, threads) = with(|state| {
        // Other threads may have waited for longer, as libtest's does for a test that is slow.
        state.now = state.last_polled;
        (state.settings.seed, waits_of(state))
    });
    // The runtimes are asked first, and may hold locks of threads that never go on. Then this stays.
    let (tasks, text) = DUMP.get().map_or_else(Default::default, |dump| dump());
    let why = match end {
        End::Limit => "limit: neither decisions nor virtual time are left".to_owned(),
        _ => format!("deadlock: {tasks} tasks wait, no timer is set"),
    };
    stderr::try_write(&format!("gmp: seed {seed:x}: {why}\n{text}{threads}"));
    exit()
}

fn write_report(end: End) {
    with(|state| report::write(state, end)).unwrap_or_else(|error| stderr::try_write(&error));
}

/// The thread that writes the last words would wait for a lock: the words are left out.
pub(super) fn give_up_if_begun() {
    if HAS_BEGUN.load(Relaxed) {
        let (seed, threads) = with(|state| (state.settings.seed, waits_of(state)));
        stderr::try_write(&format!("gmp: seed {seed:x}: the tasks can't be listed\n{threads}"));
        exit();
    }
}

pub(super) fn exit() -> ! {
    // SAFETY: ends the process.
    unsafe { libc::_exit(STATUS) }
}

fn waits_of(state: &State) -> String {
    waits_but(state, |_| false)
}

/// A line for each thread but this one.
pub(super) fn waits_of_others(state: &State, own: usize) -> String {
    waits_but(state, |number| number == own)
}

fn waits_but(state: &State, is_left_out: impl Fn(usize) -> bool) -> String {
    let line =
        |&number: &usize| format!("gmp: {} waits {}\n", numbered(state, number), reason_of(&state.threads[number]));
    let mut live = state.live.clone();
    live.retain(|&number| !is_left_out(number));
    live.sort_unstable();
    live.iter().map(line).collect()
}

/// The thread, as a dump names it.
pub(super) fn numbered(state: &State, number: usize) -> String {
    format!("thread {number} {:?}", name_of(&state.threads[number]))
}

fn name_of(thread: &Thread) -> String {
    let name = std::fs::read_to_string(format!("/proc/self/task/{}/comm", thread.tid));
    name.unwrap_or_default().trim_end().to_owned()
}

fn reason_of(thread: &Thread) -> String {
    match &thread.wait {
        Wait::Nothing => "for its turn".to_owned(),
        Wait::Futex { .. } => "for a lock or a condition, or is parked".to_owned(),
        Wait::Sleep { .. } => "for a moment".to_owned(),
        Wait::Join(number) => format!("for the end of thread {number}"),
        Wait::Descriptors { fds, .. } => {
            format!("for descriptors {:?}", fds.iter().map(|fd| fd.fd).collect::<Vec<_>>())
        }
        Wait::Ended => "no more".to_owned(),
    }
}
