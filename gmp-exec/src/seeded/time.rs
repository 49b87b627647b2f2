//! Virtual time. It goes on when nothing can run, and by a little at each reading, so that a loop
//! that waits for a moment comes to an end.

use super::state::with;

/// What a reading of a clock costs.
const COST_OF_READING: u64 = 200;
/// What the monotonic clocks show at the start, in seconds.
const UPTIME: i64 = 1_000_000;
/// The same of the clocks that show the date: the first of January 2026.
const DATE: i64 = 1_767_225_600;

pub(super) fn read(clock: libc::clockid_t) -> libc::timespec {
    let now = with(|state| {
        state.now += COST_OF_READING;
        state.now
    });
    let seconds = start_of(clock) + (now / 1_000_000_000) as i64;
    libc::timespec { tv_sec: seconds, tv_nsec: (now % 1_000_000_000) as i64 }
}

/// The moment after that time from now.
pub(super) fn after(time: &libc::timespec) -> u64 {
    with(|state| state.now).saturating_add(nanoseconds(time.tv_sec, time.tv_nsec))
}

/// The moment at which the clock shows that.
pub(super) fn at(clock: libc::clockid_t, time: &libc::timespec) -> u64 {
    nanoseconds(time.tv_sec.saturating_sub(start_of(clock)), time.tv_nsec)
}

fn start_of(clock: libc::clockid_t) -> i64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => DATE,
        libc::CLOCK_MONOTONIC | libc::CLOCK_MONOTONIC_COARSE | libc::CLOCK_MONOTONIC_RAW | libc::CLOCK_BOOTTIME => {
            UPTIME
        }
        // The clocks of processes and threads.
        _ => 0,
    }
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> u64 {
    (seconds.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(nanoseconds.max(0) as u64)
}
