//! Futexes: std's and parking_lot's locks, conditions, channels and parking all wait in these.
#![allow(unsafe_code, reason = "reads the word at which a thread is to wait")]

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;

use super::decisions::Kind;
use super::explorer::Id;
use super::state::{State, with};
use super::threads::Wait;
use super::{ending, time, turn};

const OPERATION: i32 = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);

/// The result of the system call, negative for an error; `None`: an operation that is left to the
/// kernel.
///
/// # Safety
///
/// As for the system call.
pub(super) unsafe fn call(address: usize, operation: i32, value: u32, timeout: usize, bits: u32) -> Option<i64> {
    let timeout = timeout as *const libc::timespec;
    // SAFETY: the caller vouches for the pointer.
    let timeout = unsafe { timeout.as_ref() };
    match operation & OPERATION {
        libc::FUTEX_WAIT => {
            let deadline = timeout.map(time::after);
            // SAFETY: as above.
            Some(unsafe { wait(address, value, u32::MAX, deadline) })
        }
        libc::FUTEX_WAIT_BITSET => {
            let is_date = operation & libc::FUTEX_CLOCK_REALTIME != 0;
            let clock = if is_date { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
            let deadline = timeout.map(|timeout| time::at(clock, timeout));
            // SAFETY: as above.
            Some(unsafe { wait(address, value, bits, deadline) })
        }
        libc::FUTEX_WAKE => Some(wake(address, value as usize, u32::MAX)),
        libc::FUTEX_WAKE_BITSET => Some(wake(address, value as usize, bits)),
        _ => None,
    }
}

/// # Safety
///
/// The address is that of a word.
unsafe fn wait(address: usize, value: u32, bits: u32, deadline: Option<u64>) -> i64 {
    // SAFETY: the caller vouches for the address. No other thread of the run has the turn.
    if unsafe { &*(address as *const AtomicU32) }.load(SeqCst) != value {
        return -i64::from(libc::EAGAIN);
    }
    ending::give_up_if_begun();
    if turn::wait(Wait::Futex { address, bits, deadline }) { -i64::from(libc::ETIMEDOUT) } else { 0 }
}

fn wake(address: usize, most: usize, bits: u32) -> i64 {
    let woken = with(|state| {
        let mut waiting = waiting_at(state, address, bits);
        let count = waiting.len().min(most);
        for _ in 0..count {
            let ids: Vec<_> = waiting.iter().map(|&number| Id::Thread(number)).collect();
            let next = waiting.remove(state.decisions.one_of(Kind::Wake, &ids));
            state.threads[next].end_wait(false);
            state.decisions.event("wake", next as u64);
        }
        count
    });
    turn::pause();
    woken as i64
}

fn waiting_at(state: &State, wanted: usize, wanted_bits: u32) -> Vec<usize> {
    let is_waiting = |&number: &usize| match state.threads[number].wait {
        Wait::Futex { address, bits, .. } => address == wanted && bits & wanted_bits != 0,
        _ => false,
    };
    state.live.iter().copied().filter(is_waiting).collect()
}
