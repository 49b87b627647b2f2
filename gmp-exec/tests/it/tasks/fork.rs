//! A copy of the process without a program of its own, as servers with several processes make them.
#![allow(unsafe_code, reason = "copies the process")]

use std::thread;

use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::support::PATIENCE;

/// A copy, which waits for a signal, but not for ever.
pub(super) fn that_waits() -> Pid {
    fork(|| thread::sleep(PATIENCE))
}

/// A copy, which ends by `exit`.
pub(super) fn that_exits() -> Pid {
    fork(|| std::process::exit(7))
}

fn fork(body: fn()) -> Pid {
    // SAFETY: the copy has one thread, which only sleeps or exits.
    let copy = unsafe { libc::fork() };
    if copy == 0 {
        body();
        kill_process(getpid(), Signal::KILL).unwrap();
    }
    Pid::from_raw(copy).expect("the system has a process to give")
}
