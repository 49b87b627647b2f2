//! Virtual time. It goes on when nothing can run, and by a little at each reading, so that a loop
//! that waits for a moment comes to an end.

use super::state::{State, own, with};

const SECOND: i128 = 1_000_000_000;
/// What a reading of a clock costs.
const COST_OF_READING: u64 = 200;
/// What the monotonic clocks show at the start, in seconds.
const UPTIME: i128 = 1_000_000;
/// The same of the clocks that show the date: the first of January 2026.
const DATE: i128 = 1_767_225_600;

pub(super) fn read(clock: libc::clockid_t) -> libc::timespec {
    let shown = with(|state| {
        state.now += COST_OF_READING;
        i128::from(state.now) + start_of(clock, state)
    });
    libc::timespec { tv_sec: shown.div_euclid(SECOND) as i64, tv_nsec: shown.rem_euclid(SECOND) as i64 }
}

/// The moment after that time from now.
pub(super) fn after(time: &libc::timespec) -> u64 {
    with(|state| state.now).saturating_add(nanoseconds(time.tv_sec, time.tv_nsec))
}

/// The moment at which the clock shows that.
pub(super) fn at(clock: libc::clockid_t, time: &libc::timespec) -> u64 {
    let shown = i128::from(time.tv_sec) * SECOND + i128::from(time.tv_nsec);
    (shown - with(|state| start_of(clock, state))).clamp(0, i128::from(u64::MAX)) as u64
}

/// What the clock shows this thread at the start, in nanoseconds. Each host has its own date.
fn start_of(clock: libc::clockid_t, state: &State) -> i128 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => {
            DATE * SECOND + i128::from(state.network.clock(state.threads[own()].host))
        }
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            UPTIME * SECOND
        }
        // The clocks of processes and threads.
        _ => 0,
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    (seconds.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(nanoseconds.max(0) as u64)
}
