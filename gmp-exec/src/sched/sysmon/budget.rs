//! How soon to look again while something waits, and how many such looks may find nothing.
//!
//! While something waits and every processor is busy, a thread may fall asleep in its poll at any
//! moment, and only a look finds out. Right after a thread was found asleep, the next one is likely
//! to follow within microseconds. On a saturated runtime no thread ever sleeps. So sysmon makes a
//! series of looks: the first comes 20 µs after a look that has found something, or after a call,
//! and each look that finds nothing doubles the step. Each such look also uses up some of the
//! budget, and a find fills it. Once the budget is spent, sysmon ignores calls and looks at its
//! regular pace.
//!
//! Figures (two processors, kernel 6.18): a fixed pace of 100 µs cost a saturated runtime 6 to 11 %
//! of its throughput. A series with a budget cost nothing that could be measured, and p99 of a
//! ticker beside tasks that sleep was the same 0.1 ms.

use std::time::{Duration, Instant};

/// The first step of a series, and the shortest interval between two looks.
pub(super) const SHORTEST: Duration = Duration::from_micros(20);
/// The budget: how many looks in a row may find nothing.
const MOST: u32 = 64;
/// The budget grows by one look in this time. With 250 such looks in a second, sysmon costs 0.2 %.
const REFILL: Duration = Duration::from_millis(4);

#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    refilled: Option<Instant>,
    step: Duration,
    /// The next look belongs to a series.
    is_in_series: bool,
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
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { left: MOST, refilled: None, step: SHORTEST, is_in_series: false }
    }
}

impl Budget {
    /// Accounts for a look, and decides about the next one.
    pub(super) fn account(&mut self, look: Outcome, now: Instant) {
        self.refill(now);
        let is_next = self.is_in_series && !look.was_called && !look.has_found;
        self.step = if is_next { self.step.saturating_mul(2) } else { SHORTEST };
        if look.has_found {
            self.left = MOST;
        } else if look.was_called || self.is_in_series {
            self.left = self.left.saturating_sub(1);
        }
        let has_reason = look.was_called || look.has_found || look.has_sleeping || self.is_in_series;
        self.is_in_series = look.is_needed && has_reason && self.left > 0;
    }

    fn refill(&mut self, now: Instant) {
        let refilled = self.refilled.get_or_insert(now);
        let more = (now.duration_since(*refilled).as_nanos() / REFILL.as_nanos()).min(u128::from(MOST)) as u32;
        if more > 0 {
            self.left = (self.left + more).min(MOST);
            *refilled = now;
        }
    }

    /// Whether submitters may call sysmon, and a look may find nothing.
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// How soon to look because of what was seen.
    pub(super) fn step(&self) -> Option<Duration> {
        self.is_in_series.then_some(self.step)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const FRUITLESS: Outcome = Outcome { was_called: false, has_found: false, has_sleeping: false, is_needed: true };

    fn called() -> Outcome {
        Outcome { was_called: true, ..FRUITLESS }
    }

    #[test]
    fn fruitless_looks_get_rarer_and_a_call_starts_anew() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        budget.account(called(), now);
        assert_eq!(budget.step(), Some(SHORTEST));
        for doubled in 1..=7 {
            budget.account(FRUITLESS, now);
            assert_eq!(budget.step(), Some(SHORTEST * (1 << doubled)));
        }
        budget.account(called(), now);
        assert_eq!(budget.step(), Some(SHORTEST));
        budget.account(Outcome { is_needed: false, ..FRUITLESS }, now);
        assert_eq!(budget.step(), None);
    }

    #[test]
    fn a_regular_look_that_finds_nothing_costs_nothing_and_leads_to_no_other() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        for _ in 0..1_000 {
            budget.account(FRUITLESS, now);
        }
        assert!(budget.is_left());
        assert_eq!(budget.step(), None);
    }

    /// A saturated runtime calls whenever it may.
    #[test]
    fn fruitless_calls_are_bounded_by_time() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        let mut looks = 0;
        for now in (0..1_000).map(|ms| start + Duration::from_millis(ms)) {
            // A regular look.
            budget.account(Outcome { is_needed: false, ..FRUITLESS }, now);
            while budget.is_left() {
                budget.account(called(), now);
                looks += 1;
            }
        }
        assert!((300..=320).contains(&looks), "64 at once and 250 a second, not {looks}");
    }

    #[test]
    fn a_find_fills_the_budget() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        while budget.is_left() {
            budget.account(called(), now);
        }
        budget.account(Outcome { has_found: true, ..FRUITLESS }, now);
        assert_eq!((budget.left, budget.step()), (MOST, Some(SHORTEST)));
    }

    #[test]
    fn an_endless_series_of_looks_does_not_overflow() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        budget.account(called(), now);
        for _ in 0..10_000 {
            budget.account(Outcome { has_sleeping: true, ..FRUITLESS }, now + REFILL);
        }
        assert!(!budget.is_left());
    }
}
