//! Whether polls that hold their threads for long are likely: a program that has one has more.
//!
//! For a while after such a poll, sysmon looks for timers, too, and a machine that leaves the netpoll
//! leaves a successor there (`park::leave_netpoll`). After a poll beside an idle processor, sysmon
//! also looks closely (`pace`). For longer, machines have short time slices, also after the poll of a
//! known hog: that is not seen as long, but takes a core.
//!
//! Rejected: a poll beside the sleeper is not long. An axum server whose handlers compute for 3.4 ms
//! then had a p90 of 4.6 to 4.8 instead of 3.6 to 3.9 ms.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::state::sysmon::Level;

/// How long after a long poll another one is likely. Close looks were measured at 3 to 4 % of a core
/// on a server of 870 requests a second, a cost that other programs need not pay.
const LIKELY_FOR: Duration = Duration::from_secs(1);

/// How long machines have short time slices after such a poll, or a known hog's. They cost less than
/// close looks, so they serve a program with rare long polls, too.
const SHORT_SLICES_FOR: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct LongPolls {
    /// When a poll last lost its processor.
    pub(super) taken: Option<Instant>,
    /// When sysmon last saw a poll become long while a processor was idle: no submitter calls for such
    /// a poll.
    pub(super) beside_idle: Option<Instant>,
    /// When sysmon last saw that a poll held a permit.
    hog: Option<Instant>,
}

impl LongPolls {
    /// Tells machines what to expect.
    pub(super) fn expect(&mut self, scheduler: &Scheduler, now: Instant) {
        if scheduler.hogs.held() > 0 {
            self.hog = Some(now);
        }
        scheduler.sysmon.expect(self.level(now));
    }

    /// Whether only close looks would find such a poll soon.
    pub(super) fn are_likely_beside_idle(&self, now: Instant) -> bool {
        is_within(LIKELY_FOR, self.beside_idle, now)
    }

    fn level(&self, now: Instant) -> Level {
        let poll = self.taken.max(self.beside_idle);
        if is_within(LIKELY_FOR, poll, now) {
            Level::LongPolls
        } else if is_within(SHORT_SLICES_FOR, poll.max(self.hog), now) {
            Level::Competition
        } else {
            Level::Nothing
        }
    }
}

fn is_within(limit: Duration, at: Option<Instant>, now: Instant) -> bool {
    at.is_some_and(|at| now.duration_since(at) < limit)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_poll_makes_others_likely_for_a_second_and_slices_short_for_ten() {
        let start = Instant::now();
        let at = |ms: Option<u64>| ms.map(|ms| start + Duration::from_millis(ms));
        let table = [
            (None, None, 0, Level::Nothing),
            (Some(0), None, 0, Level::LongPolls),
            (Some(0), None, 999, Level::LongPolls),
            (Some(0), None, 1_000, Level::Competition),
            (Some(0), None, 9_999, Level::Competition),
            (Some(0), None, 10_000, Level::Nothing),
            (None, Some(0), 0, Level::Competition),
            (None, Some(0), 10_000, Level::Nothing),
            (Some(0), Some(5_000), 10_000, Level::Competition),
            (Some(5_000), Some(0), 10_000, Level::Competition),
            (Some(5_000), Some(0), 15_000, Level::Nothing),
        ];
        for (poll, hog, now, expected) in table {
            let now = start + Duration::from_millis(now);
            let taken = LongPolls { taken: at(poll), hog: at(hog), beside_idle: None };
            let seen = LongPolls { beside_idle: at(poll), hog: at(hog), taken: None };
            assert_eq!([&taken, &seen].map(|polls| polls.level(now)), [expected; 2], "{poll:?} {hog:?} {now:?}");
            assert!(!taken.are_likely_beside_idle(now));
            assert_eq!(seen.are_likely_beside_idle(now), expected == Level::LongPolls);
        }
    }
}
