//! How soon sysmon looks again, and how many looks may find nothing.
//!
//! While something waits and every processor is busy, a thread may fall asleep in its poll at any
//! moment, and only a look finds out. Right after a thread was found asleep, the next one is likely
//! to follow within microseconds. On a saturated runtime no thread ever sleeps. So after a call, and
//! after a look that has found something, sysmon makes a series of looks: the first comes after 20 µs,
//! and each that finds nothing doubles the interval, up to the regular one (Go: `delay`). While a
//! processor is idle and nothing lasts, the interval doubles further, up to 15 ms.
//!
//! Each look of a series costs some of a budget, and a find fills it. Once the budget is spent, sysmon
//! ignores calls and looks at its regular pace.
//!
//! Figures (two processors, kernel 6.18): a fixed pace of 100 µs cost a saturated runtime 6 to 11 %
//! of its throughput. A series with a budget cost nothing that could be measured, and p99 of a
//! ticker beside tasks that sleep was the same 0.1 ms.

use std::time::{Duration, Instant};

/// The first interval of a series, and the shortest between two looks.
pub(super) const SHORTEST: Duration = Duration::from_micros(20);
/// Looks per threshold: sysmon finds a stuck poll at most this fraction of the threshold late.
const LOOKS: u32 = 4;
/// Upper bound on the regular interval, whatever the threshold: work that starts to wait during a
/// blocking section is found only by a look.
const LONGEST: Duration = Duration::from_micros(2_500);
/// Upper bound on the interval while processors are busy only now and then, in regular intervals.
/// At 10 ms, four of them, a server of 820 requests a second had 6 % more context switches than on
/// tokio.
const SLOWEST: u32 = 6;
/// The regular interval while only a close look would find the next long poll soon.
const CLOSE: Duration = Duration::from_micros(500);
/// The budget: how many looks in a row may find nothing.
const MOST: u32 = 64;
/// The budget grows by one look in this time. With 250 such looks in a second, sysmon takes 0.9 % of a
/// core. With 62, a ticker beside short sections on one processor has gaps of 14 ms instead of 5.
const REFILL: Duration = Duration::from_millis(4);

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// How long to sleep before the next look. Zero: sysmon has not looked yet.
    pub(super) interval: Duration,
    /// When the budget will be full again.
    full_at: Option<Instant>,
    /// Submitters may not call sysmon: too many looks have found nothing.
    pub(super) is_spent: bool,
}

/// The result of a look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// A machine or a submitter had called for the look, or a timer has come due.
    pub(super) was_called: bool,
    /// A processor was taken from a thread that slept.
    pub(super) has_found: bool,
    /// A thread sleeps, perhaps only for a moment.
    pub(super) has_sleeping: bool,
    /// Something waits, and no processor is idle. Perhaps no machine is inside a poll yet.
    pub(super) is_needed: bool,
    /// A processor is idle, nothing waits and no poll lasts.
    pub(super) is_quiet: bool,
}

impl Pace {
    /// Accounts for a look, and decides about the next one.
    pub(super) fn account(&mut self, look: Outcome, regular: Duration, now: Instant) {
        let is_in_series = (SHORTEST..regular).contains(&self.interval);
        if look.has_found {
            self.full_at = None;
        } else if look.was_called || is_in_series {
            self.full_at = Some(self.full_at.map_or(now, |at| at.max(now)) + REFILL);
        }
        self.is_spent = self.full_at.is_some_and(|at| at.saturating_duration_since(now) >= REFILL * MOST);
        let begins = look.was_called || look.has_found || look.has_sleeping && !is_in_series;
        self.interval = match look.is_needed && !self.is_spent {
            true if begins => SHORTEST.min(regular),
            true if is_in_series => regular.min(self.interval * 2),
            _ if look.is_quiet => (self.interval.max(regular) * 2).min(regular * SLOWEST),
            _ => regular,
        };
    }
}

/// How soon to look while a processor is busy and nothing was seen.
pub(super) fn regular(threshold: Duration, is_close: bool) -> Duration {
    let longest = if is_close { CLOSE } else { LONGEST };
    (threshold / LOOKS).clamp(SHORTEST, longest)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const REGULAR: Duration = Duration::from_micros(2_500);
    const NEEDED: Outcome =
        Outcome { was_called: false, has_found: false, has_sleeping: false, is_needed: true, is_quiet: false };
    const CALLED: Outcome = Outcome { was_called: true, ..NEEDED };
    const FOUND: Outcome = Outcome { has_found: true, ..NEEDED };
    const ASLEEP: Outcome = Outcome { has_sleeping: true, ..NEEDED };
    const QUIET: Outcome = Outcome { is_needed: false, is_quiet: true, ..NEEDED };
    const NOTHING: Outcome = Outcome { is_needed: false, ..NEEDED };

    const fn us(n: u64) -> Duration {
        Duration::from_micros(n)
    }

    #[test]
    fn the_interval_after_each_look() {
        let table = [
            ("the first look", 0, NOTHING, 2_500),
            ("something waits, and no thread has slept", 2_500, NEEDED, 2_500),
            ("a call begins a series", 2_500, CALLED, 20),
            ("a call for nothing", 2_500, Outcome { is_needed: false, ..CALLED }, 2_500),
            ("a find begins a series", 640, FOUND, 20),
            ("a thread that sleeps begins a series", 2_500, ASLEEP, 20),
            ("and does not begin it again", 40, ASLEEP, 80),
            ("a series", 20, NEEDED, 40),
            ("the end of a series", 1_280, NEEDED, 2_500),
            ("a series that is not needed any more", 40, NOTHING, 2_500),
            ("nothing waits", 2_500, QUIET, 5_000),
            ("nothing waits after a series", 40, QUIET, 5_000),
            ("nothing has waited for long", 10_000, QUIET, 15_000),
            ("nothing waits still", 15_000, QUIET, 15_000),
            ("something waits again", 15_000, NEEDED, 2_500),
        ];
        for (what, interval, look, expected) in table {
            let mut pace = Pace { interval: us(interval), ..Pace::default() };
            pace.account(look, REGULAR, Instant::now());
            assert_eq!(pace.interval, us(expected), "{what}");
        }
    }

    #[test]
    fn the_regular_interval() {
        let of = |threshold, is_close| regular(us(threshold), is_close);
        assert_eq!([of(10_000, false), of(1_000_000, false), of(60, false)], [2_500, 2_500, 20].map(us));
        assert_eq!([of(10_000, true), of(1_000, true)], [500, 250].map(us));
    }

    #[test]
    fn a_regular_look_that_finds_nothing_costs_nothing() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        for _ in 0..1_000 {
            pace.account(NEEDED, REGULAR, now);
        }
        assert!(!pace.is_spent);
    }

    /// A saturated runtime calls whenever it may.
    #[test]
    fn fruitless_calls_are_bounded_by_time() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut looks = 0;
        for now in (0..1_000).map(|ms| start + Duration::from_millis(ms)) {
            // A regular look.
            pace.account(NOTHING, REGULAR, now);
            while !pace.is_spent {
                pace.account(CALLED, REGULAR, now);
                looks += 1;
            }
        }
        assert!((300..=320).contains(&looks), "64 at once and 250 a second, not {looks}");
        assert_eq!(pace.interval, REGULAR, "no series without a budget");
        pace.account(FOUND, REGULAR, start);
        assert!(!pace.is_spent, "a find fills the budget");
    }
}
