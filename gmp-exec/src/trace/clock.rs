//! The clock of a recording: the processor's cycle counter where it goes on at one rate on all
//! cores, else the system's clock, which takes about twice as long to read.
//!
//! The counter's rate is not asked for. A reading of both clocks when the recording starts and
//! another when it is read give it: the longer the recording, the better.

use std::time::Instant;

use crate::sys::cycles;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// The counter at the start; `None`: there is none to rely on.
    base: Option<u64>,
}

/// Turns ticks into nanoseconds since the recording has started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    nanoseconds: u64,
    ticks: u64,
}

impl Clock {
    pub(super) fn new() -> Clock {
        let base = cycles::are_invariant().then(cycles::read);
        Clock { start: Instant::now(), base }
    }

    /// Ticks since the recording has started.
    #[inline]
    pub(super) fn ticks(&self) -> u64 {
        match self.base {
            Some(base) => cycles::read().wrapping_sub(base),
            None => self.nanoseconds(),
        }
    }

    fn nanoseconds(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    pub(super) fn scale(&self) -> Scale {
        let ticks = self.ticks();
        Scale { nanoseconds: self.nanoseconds().max(1), ticks: ticks.max(1) }
    }
}

impl Scale {
    /// The moment of an event, of whose ticks the lower bits are known: the latest such moment. 56
    /// bits of a cycle counter last for a few months only. An event that seems to be a little later
    /// than the scale was made then: the processor may read the counter too soon.
    pub(super) fn moment(self, ticks: u64, bits: u32) -> u64 {
        let before = self.ticks.wrapping_sub(ticks) & ((1 << bits) - 1);
        let is_later = before >> (bits - 1) == 1;
        self.nanoseconds(if is_later { self.ticks } else { self.ticks.saturating_sub(before) })
    }

    fn nanoseconds(self, ticks: u64) -> u64 {
        (u128::from(ticks) * u128::from(self.nanoseconds) / u128::from(self.ticks)) as u64
    }

    /// Since the recording has started, in nanoseconds, when the scale was made.
    pub(super) fn elapsed(self) -> u64 {
        self.nanoseconds
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Both clocks agree, whichever this computer uses.
    #[test]
    fn ticks_become_nanoseconds() {
        let clock = Clock::new();
        while clock.start.elapsed() < Duration::from_millis(50) {}
        let (ticks, at) = (clock.ticks(), clock.nanoseconds());
        while clock.start.elapsed() < Duration::from_millis(100) {}
        let read = clock.scale().nanoseconds(ticks);
        // The thread may have been stopped between two readings.
        assert!(read.abs_diff(at) < 20_000_000, "{read} ns, not {at} ns");
    }

    #[test]
    fn a_scale_is_exact_for_long_recordings() {
        let scale = Scale { nanoseconds: 1 << 50, ticks: 3 << 50 };
        assert_eq!(scale.nanoseconds(3 << 49), 1 << 49);
    }

    #[test]
    fn the_lower_bits_of_ticks_are_enough() {
        let scale = Scale { nanoseconds: 1 << 60, ticks: 1 << 60 | 5 };
        let moment = |ticks: u64| scale.moment(ticks & ((1 << 56) - 1), 56);
        assert_eq!(moment(1 << 60 | 5), scale.nanoseconds(1 << 60 | 5));
        assert_eq!(moment((1 << 60) - 7), scale.nanoseconds((1 << 60) - 7), "before the lower bits were all 0");
        assert_eq!(Scale { nanoseconds: 9, ticks: 9 }.moment(10, 56), 9, "no later than now");
    }
}
