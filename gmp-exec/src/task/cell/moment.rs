//! The system's coarse clock, for the ages of tasks. A reading costs 6 ns instead of 25, and is a
//! few milliseconds late.
#![allow(unsafe_code, reason = "calls `clock_gettime`: rustix has it, but crashes under valgrind")]

use std::time::Duration;

/// A time in units of 2^24 ns (17 ms). It wraps round after two years.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(u32);

/// Nanoseconds of a unit, as a power of two.
const UNIT: u32 = 24;

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_COARSE;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

impl Moment {
    pub(crate) fn now() -> Moment {
        if cfg!(any(loom, shuttle)) {
            // Models have no time.
            return Moment(0);
        }
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid, writable timespec. A system without this clock reports an
        // error and leaves 0.
        unsafe { libc::clock_gettime(CLOCK, &mut time) };
        Moment(((time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64) >> UNIT) as u32)
    }

    pub(crate) fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(u64::from(self.0.wrapping_sub(earlier.0)) << UNIT)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn moments_are_compared_across_the_wrap() {
        assert_eq!(Moment(3).since(Moment(u32::MAX)), Duration::from_nanos(4 << UNIT));
    }

    #[test]
    fn the_clock_goes_on() {
        let (start, earlier) = (std::time::Instant::now(), Moment::now());
        while Moment::now().since(earlier) < Duration::from_millis(100) {
            assert!(start.elapsed() < Duration::from_secs(60));
        }
        assert!(start.elapsed() > Duration::from_millis(50));
    }
}
