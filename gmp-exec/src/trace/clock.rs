//! The clock of a recording: the processor's cycle counter where it goes on at one rate on all
//! cores, else the system's clock, which takes about twice as long to read.
//!
//! The counter's rate is not asked for. A reading of both clocks when the recording starts and
//! another when it is read give it: the longer the recording, the better. Files that follow each
//! other have a reading at each cut between two of them, so both give that moment the same time.

use std::time::Instant;

use crate::sys::cycles;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    /// The counter at the start; `None`: there is none to rely on.
    base: Option<u64>,
}

/// Both clocks at one moment, since the recording has started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) nanoseconds: u64,
    ticks: u64,
}

/// Turns ticks into nanoseconds since the recording has started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    from: Reading,
    to: Reading,
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

    pub(super) fn reading(&self) -> Reading {
        let ticks = self.ticks();
        Reading { nanoseconds: self.nanoseconds().max(1), ticks: ticks.max(1) }
    }

    pub(super) fn scale(&self) -> Scale {
        Scale::between(Reading::default(), self.reading())
    }
}

impl Scale {
    pub(super) fn between(from: Reading, to: Reading) -> Scale {
        Scale { from, to }
    }

    /// The moment of an event, of whose ticks the lower bits are known: the latest such moment. 56
    /// bits of a cycle counter last for a few months only. An event that is later than the
    /// scale ends was then, and one from before the scale begins was then.
    pub(super) fn moment(self, ticks: u64, bits: u32) -> u64 {
        self.reading_at(ticks, bits).nanoseconds
    }

    /// Both clocks at the moment of an event.
    pub(super) fn reading_at(self, ticks: u64, bits: u32) -> Reading {
        let before = self.before_end(ticks, bits).unwrap_or(0);
        let ticks = self.to.ticks.saturating_sub(before).max(self.from.ticks);
        Reading { nanoseconds: self.nanoseconds(ticks), ticks }
    }

    /// Whether an event is later than the scale ends.
    pub(super) fn is_later(self, ticks: u64, bits: u32) -> bool {
        self.before_end(ticks, bits).is_none()
    }

    /// How many ticks before the end; `None`: after it.
    fn before_end(self, ticks: u64, bits: u32) -> Option<u64> {
        let before = self.to.ticks.wrapping_sub(ticks) & ((1 << bits) - 1);
        (before >> (bits - 1) == 0).then_some(before)
    }

    fn nanoseconds(self, ticks: u64) -> u64 {
        let [time, whole] = [ticks, self.to.ticks].map(|ticks| u128::from(ticks - self.from.ticks));
        let length = u128::from(self.to.nanoseconds - self.from.nanoseconds);
        self.from.nanoseconds + (time * length / whole.max(1)) as u64
    }

    /// Since the recording has started, in nanoseconds, when the scale was made.
    pub(super) fn elapsed(self) -> u64 {
        self.to.nanoseconds
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
        let scale = Scale::between(Reading::default(), Reading { nanoseconds: 1 << 50, ticks: 3 << 50 });
        assert_eq!(scale.nanoseconds(3 << 49), 1 << 49);
    }

    #[test]
    fn the_lower_bits_of_ticks_are_enough() {
        let scale = Scale::between(Reading::default(), Reading { nanoseconds: 1 << 60, ticks: 1 << 60 | 5 });
        let moment = |ticks: u64| scale.moment(ticks & ((1 << 56) - 1), 56);
        assert_eq!(moment(1 << 60 | 5), scale.nanoseconds(1 << 60 | 5));
        assert_eq!(moment((1 << 60) - 7), scale.nanoseconds((1 << 60) - 7), "before the lower bits were all 0");
        let scale = Scale::between(Reading::default(), Reading { nanoseconds: 9, ticks: 9 });
        assert_eq!((scale.moment(10, 56), scale.is_later(10, 56)), (9, true), "no later than now");
    }

    /// Although the counter seems to go twice as fast before the cut.
    #[test]
    fn two_scales_give_the_cut_between_them_the_same_time() {
        let cut = Reading { nanoseconds: 1_000, ticks: 4_000 };
        let before = Scale::between(Reading::default(), cut);
        let after = Scale::between(cut, Reading { nanoseconds: 2_000, ticks: 6_000 });
        assert_eq!((before.moment(4_000, 56), after.moment(4_000, 56)), (1_000, 1_000));
        assert_eq!((before.moment(3_996, 56), after.moment(4_002, 56)), (999, 1_001));
        assert_eq!(after.moment(3_000, 56), 1_000, "written late");
        assert!(before.is_later(4_001, 56) && !after.is_later(4_001, 56));
    }
}
