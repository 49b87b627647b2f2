//! Whether polls that hold their threads for long are likely: a program that has one has more.
//!
//! For a while after such a poll, sysmon looks closely (`pace`), and for timers, too; a machine that
//! leaves the netpoll leaves a successor there (`park::send_successor`), and machines have
//! short time slices. Slices stay short beside a known hog, too: its poll is not seen as long, but
//! takes a core.
//!
//! Rejected: a poll beside the sleeper is not long. An axum server whose handlers compute for 3.4 ms
//! then had a p90 of 4.6 to 4.8 instead of 3.6 to 3.9 ms.

use std::time::{Duration, Instant};

use crate::sched::scheduler::Scheduler;
use crate::sched::state::sysmon::expected::Level;

/// How long after a long poll another one is likely. Close looks were measured at 3 to 4 % of a core
/// on a server of 870 requests a second, a cost that other programs need not pay.
const LIKELY_FOR: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct LongPolls {
    /// When sysmon last learnt of a poll that has held its thread for long.
    poll: Option<Instant>,
    /// When sysmon last saw a poll that counts against `max_hogs`.
    hog: Option<Instant>,
}

impl LongPolls {
    /// A poll has held its thread for long.
    pub(super) fn see(&mut self, now: Instant) {
        self.poll = Some(now);
    }

    /// Tells machines what to expect.
    pub(super) fn expect(&mut self, scheduler: &Scheduler, now: Instant) {
        if scheduler.sysmon.expected.has(Level::News) {
            self.see(now);
        }
        if scheduler.computing.count(&scheduler.hogs) > 0 {
            self.hog = Some(now);
        }
        scheduler.sysmon.expected.set(self.level(now));
    }

    pub(super) fn are_likely(&self, now: Instant) -> bool {
        self.level(now) == Level::LongPolls
    }

    fn level(&self, now: Instant) -> Level {
        let is_recent = |at: Option<Instant>| at.is_some_and(|at| now.duration_since(at) < LIKELY_FOR);
        match [self.poll, self.hog].map(is_recent) {
            [true, _] => Level::LongPolls,
            [false, true] => Level::Hogs,
            [false, false] => Level::Nothing,
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_poll_makes_others_likely_for_a_second_and_so_does_a_hog_for_slices() {
        let start = Instant::now();
        let at = |ms: Option<u64>| ms.map(|ms| start + Duration::from_millis(ms));
        let table = [
            (None, None, 0, Level::Nothing),
            (Some(0), None, 0, Level::LongPolls),
            (Some(0), None, 999, Level::LongPolls),
            (Some(0), None, 1_000, Level::Nothing),
            (None, Some(0), 999, Level::Hogs),
            (Some(0), Some(500), 999, Level::LongPolls),
            (Some(0), Some(500), 1_000, Level::Hogs),
            (Some(0), Some(500), 1_500, Level::Nothing),
        ];
        for (poll, hog, now, expected) in table {
            let long_polls = LongPolls { poll: at(poll), hog: at(hog) };
            assert_eq!(long_polls.level(start + Duration::from_millis(now)), expected, "{poll:?} {hog:?} {now}");
        }
    }
}
