//! A grid of moments at which longer timers fire, so that timers of different tasks fire together.
//!
//! At each moment at which a timer fires, a thread must wake up and look for work, which costs some
//! 10 µs, as much as running dozens of tasks. Thousands of tasks that sleep up to a second would
//! have as many such moments. A timer may therefore fire a little after its deadline, but never
//! before: at the next multiple of a step.
//!
//! The step is at most a 64th of the timer's length, so that short sleeps stay short, and at most
//! 1.05 ms: tokio's timers are late by up to 1 ms, whatever their length, and programs should not
//! see later timers here. Below 2.1 ms there is no grid. Steps are powers of two, so each moment of
//! a coarse grid is also a moment of every finer grid, and timers of different lengths fire
//! together, too.

use std::time::Duration;

use super::clock::nanos;

/// The grid for timers of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grid {
    /// The nanoseconds from one moment to the next are 2 to this power.
    exponent: u8,
}

/// The exponent of the longest step, 1.05 ms.
const COARSEST: u32 = 20;

/// A step is at most 1 / 2^6 of the timer's length.
const PART: u32 = 6;

/// Shorter timers than 2.1 ms have no grid: their step would be hardly longer than the delay with
/// which the kernel wakes a thread.
const SHORTEST: u64 = 1 << 21;

impl Grid {
    /// Every nanosecond is a moment.
    pub(super) const EXACT: Grid = Grid { exponent: 0 };

    /// The grid of a timer that has `length` nanoseconds to go.
    pub(super) fn for_length(length: u64) -> Grid {
        if length < SHORTEST {
            return Grid::EXACT;
        }
        Grid { exponent: (length.ilog2() - PART).min(COARSEST) as u8 }
    }

    pub(super) fn for_duration(length: Duration) -> Grid {
        Grid::for_length(nanos(length))
    }

    /// The first moment that is not before `when`; `u64::MAX` after the last one.
    pub(super) fn at_or_after(self, when: u64) -> u64 {
        let below = (1 << self.exponent) - 1;
        when.checked_add(below).map_or(u64::MAX, |beyond| beyond & !below)
    }
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const LENGTHS: [u64; 9] = [0, 50_000, MS, 3 * MS, 10 * MS, 50 * MS, 100 * MS, 30_000 * MS, u64::MAX];
    const MOMENTS: [u64; 6] = [0, 1, 12_345_678, 1 << 20, (1 << 20) + 1, 987_654_321_012];

    #[test]
    fn a_timer_is_never_early_and_late_by_a_64th_of_its_length_and_by_a_millisecond_at_most() {
        for (length, now) in LENGTHS.iter().flat_map(|&length| MOMENTS.map(|now| (length, now))) {
            let when = now.saturating_add(length);
            let lateness = Grid::for_length(length).at_or_after(when).checked_sub(when).expect("early");
            assert!(lateness <= length / 64 && lateness < 1 << 20, "{lateness} ns late after {length}");
        }
    }

    #[test]
    fn short_timers_keep_their_moment() {
        for length in [0, 1, 50_000, MS, 2 * MS] {
            assert_eq!(Grid::for_length(length), Grid::EXACT);
            assert!(MOMENTS.iter().all(|&when| Grid::for_length(length).at_or_after(when) == when));
        }
    }

    #[test]
    fn moments_of_a_coarse_grid_are_moments_of_every_finer_one() {
        for pair in LENGTHS.windows(2) {
            let [fine, coarse] = [pair[0], pair[1]].map(Grid::for_length);
            for moment in MOMENTS.map(|when| coarse.at_or_after(when)) {
                assert_eq!(fine.at_or_after(moment), moment);
            }
        }
    }

    #[test]
    fn a_millisecond_of_long_timers_has_two_moments_at_most() {
        let grid = Grid::for_duration(Duration::from_millis(100));
        let moments: std::collections::HashSet<_> =
            (0..1_000).map(|task| grid.at_or_after(100 * MS + task * 1_000)).collect();
        assert!(moments.len() <= 2, "{moments:?}");
    }

    #[test]
    fn the_end_of_the_range_is_a_moment() {
        let grid = Grid::for_duration(Duration::MAX);
        assert_eq!(grid.at_or_after(u64::MAX), u64::MAX);
        assert_eq!(grid.at_or_after(u64::MAX - 1), u64::MAX);
        assert_eq!(Grid::EXACT.at_or_after(u64::MAX - 1), u64::MAX - 1);
    }
}
