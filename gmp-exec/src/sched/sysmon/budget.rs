//! How soon to look again while something waits, and how many such looks may find nothing.
//!
//! While something waits and every processor is busy, a thread may fall asleep in its poll at any
//! moment, and only a look finds out. Right after a thread was found asleep, the next one is likely
//! to follow within microseconds. On a saturated runtime no thread ever sleeps. So sysmon makes a
//! series of looks: the first comes 20 µs after a look that has found something, or after a call,
//! and each look that finds nothing doubles the step. Each such look also uses up some of the
//! budget. Once the budget is spent, sysmon ignores calls and looks at its regular pace.
//!
//! Figures (two processors, kernel 6.18): a fixed pace of 100 µs cost a saturated runtime 6 to 11 %
//! of its throughput. A series with a budget cost nothing that could be measured, and p99 of a
//! ticker beside tasks that sleep was the same 0.1 ms.

use std::time::{Duration, Instant};

/// The first step of a series.
const FIRST_STEP: Duration = Duration::from_micros(20);
/// A first step is at least this many times as long as a look has taken: with many processors a
/// look takes long.
const SHARE: u32 = 4;
/// The budget: how many looks in a row may find nothing.
const MOST: u32 = 64;
/// Added to the budget by each look that has found something.
const PER_TAKE: u32 = 16;
/// The budget grows by one look in this time while a thread was found asleep within the last
/// [`RECENT`].
const REFILL_AFTER_FIND: Duration = Duration::from_millis(2);
/// The budget grows by one look in this time otherwise.
const REFILL: Duration = Duration::from_millis(50);
const RECENT: Duration = Duration::from_secs(1);
/// The heir of a processor that was taken from a sleeping thread is likely to sleep in its next
/// poll, too, for so long after the take.
const SUCCESSION: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    refilled: Option<Instant>,
    found: Option<Instant>,
    first: Duration,
    step: Duration,
    /// The next look belongs to a series.
    is_in_series: bool,
}

/// The result of a look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// A machine or a submitter had called for the look, or a timer has come due.
    pub(super) was_called: bool,
    /// A processor was taken from a thread that slept.
    pub(super) has_found: bool,
    /// A thread sleeps, perhaps only for a moment.
    pub(super) has_sleeping: bool,
    /// Something waits, and no processor is idle. Perhaps no machine is inside a poll yet.
    pub(super) is_needed: bool,
    /// How long the look took.
    pub(super) cost: Duration,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { left: MOST, refilled: None, found: None, first: FIRST_STEP, step: FIRST_STEP, is_in_series: false }
    }
}

impl Budget {
    /// Accounts for a look, and decides about the next one.
    pub(super) fn account(&mut self, look: Outcome, now: Instant) {
        self.refill(now);
        self.first = FIRST_STEP.max(look.cost * SHARE);
        if look.has_found {
            self.found = Some(now);
            self.left = (self.left + PER_TAKE).min(MOST);
            self.step = self.first;
        } else if look.was_called || self.is_in_series {
            self.left = self.left.saturating_sub(1);
            self.step = if look.was_called { self.first } else { self.step.saturating_mul(2) };
        } else {
            self.step = self.first;
        }
        let has_reason = look.was_called || look.has_found || look.has_sleeping || self.is_in_series;
        self.is_in_series = look.is_needed && has_reason && self.left > 0;
    }

    fn refill(&mut self, now: Instant) {
        let refilled = *self.refilled.get_or_insert(now);
        let is_recent = self.found.is_some_and(|at| now.duration_since(at) < RECENT);
        let period = if is_recent { REFILL_AFTER_FIND } else { REFILL };
        let more = (now.duration_since(refilled).as_nanos() / period.as_nanos()).min(u128::from(MOST)) as u32;
        if more > 0 {
            self.left = (self.left + more).min(MOST);
            self.refilled = Some(now);
        }
    }

    /// Whether submitters may call sysmon.
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Whether another thread is likely to fall asleep soon, and a look may still find nothing.
    pub(super) fn expects_another(&self, now: Instant) -> bool {
        self.is_left() && self.found.is_some_and(|at| now.duration_since(at) < SUCCESSION)
    }

    /// How soon to look because of what was seen.
    pub(super) fn step(&self) -> Option<Duration> {
        self.is_in_series.then_some(self.step)
    }

    /// How soon to look because something waits that did not at the last look.
    pub(super) fn first_step(&self) -> Duration {
        self.first
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const FRUITLESS: Outcome =
        Outcome { was_called: false, has_found: false, has_sleeping: false, is_needed: true, cost: Duration::ZERO };

    fn called() -> Outcome {
        Outcome { was_called: true, ..FRUITLESS }
    }

    #[test]
    fn fruitless_looks_get_rarer_and_a_call_starts_anew() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        budget.account(called(), now);
        assert_eq!(budget.step(), Some(FIRST_STEP));
        for doubled in 1..=7 {
            budget.account(FRUITLESS, now);
            assert_eq!(budget.step(), Some(FIRST_STEP * (1 << doubled)));
        }
        budget.account(called(), now);
        assert_eq!(budget.step(), Some(FIRST_STEP));
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
        let looks_in_a_second = |found: bool| {
            let (mut budget, start) = (Budget::default(), Instant::now());
            budget.account(Outcome { has_found: found, ..called() }, start);
            let mut looks = 0;
            for now in (0..1_000).map(|ms| start + Duration::from_millis(ms)) {
                // A regular look.
                budget.account(Outcome { is_needed: false, ..FRUITLESS }, now);
                while budget.is_left() {
                    budget.account(called(), now);
                    looks += 1;
                }
            }
            looks
        };
        let (before, after) = (looks_in_a_second(false), looks_in_a_second(true));
        assert!((75..=85).contains(&before), "64 at once and 20 a second, not {before}");
        assert!((530..=580).contains(&after), "64 and 16 at once and 500 a second, not {after}");
    }

    #[test]
    fn a_find_makes_another_likely_for_a_while_and_while_there_is_budget() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        assert!(!budget.expects_another(now));
        budget.account(Outcome { has_found: true, ..FRUITLESS }, now);
        assert!(budget.expects_another(now));
        assert!(!budget.expects_another(now + SUCCESSION));
        for _ in 0..MOST {
            budget.account(called(), now);
        }
        assert!(!budget.expects_another(now));
    }

    #[test]
    fn the_steps_are_no_shorter_than_what_a_look_takes_allows() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        budget.account(Outcome { cost: Duration::from_micros(150), ..called() }, now);
        assert_eq!(budget.step(), Some(Duration::from_micros(600)));
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
