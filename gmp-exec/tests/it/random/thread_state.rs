//! What belongs to a thread, is changed by closures and must not reach a thread that polls.
#![allow(unsafe_code, reason = "changes the signal mask")]

use std::mem::MaybeUninit;

use rustix::process::{getpid, getpriority_process, nice};
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, current_timer_slack, sched_getaffinity, sched_setaffinity, set_current_timer_slack};

use crate::support::Random;

#[derive(Debug, PartialEq)]
pub(super) struct ThreadState {
    nice: i32,
    masks_signal: bool,
    #[cfg(target_os = "linux")]
    cpus: CpuSet,
    #[cfg(target_os = "linux")]
    timer_slack: u64,
}

impl ThreadState {
    pub(super) fn of_this_thread() -> ThreadState {
        ThreadState {
            nice: getpriority_process(None).unwrap(),
            masks_signal: masks_signal(),
            #[cfg(target_os = "linux")]
            cpus: sched_getaffinity(None).unwrap(),
            #[cfg(target_os = "linux")]
            timer_slack: current_timer_slack().unwrap(),
        }
    }
}

pub(super) fn change_this_thread(random: &mut Random) {
    match random.below(4) {
        // Only once: a thread of the lowest priority may have to wait for seconds. The main thread
        // runs no closures, so it has the nice value with which the tests were started.
        0 if getpriority_process(None) == getpriority_process(Some(getpid())) => _ = nice(3).unwrap(),
        #[cfg(target_os = "linux")]
        2 if sched_getaffinity(None).unwrap().count() > 1 => stay_on_one_cpu(),
        #[cfg(target_os = "linux")]
        3 => set_current_timer_slack(std::num::NonZero::new(70_000 + random.below(1_000))).unwrap(),
        _ => mask_signal(),
    }
}

/// One that no test uses.
const SIGNAL: libc::c_int = libc::SIGTTIN;

fn mask_signal() {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initializes the set.
    unsafe { libc::sigemptyset(signals.as_mut_ptr()) };
    // SAFETY: the set is initialized.
    unsafe { libc::sigaddset(signals.as_mut_ptr(), SIGNAL) };
    // SAFETY: the set is initialized; the null pointer means that the old set is not wanted.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut()) };
    assert_eq!(result, 0);
}

fn masks_signal() -> bool {
    let mut signals = MaybeUninit::uninit();
    // SAFETY: the null pointer means that the mask is only read, into the second set.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), signals.as_mut_ptr()) };
    assert_eq!(result, 0);
    // SAFETY: the call has initialized the set.
    unsafe { libc::sigismember(signals.as_ptr(), SIGNAL) == 1 }
}

#[cfg(target_os = "linux")]
fn stay_on_one_cpu() {
    let all = sched_getaffinity(None).unwrap();
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap());
    sched_setaffinity(None, &one).unwrap();
}
