//! The moments at which requests are due.

use std::iter::repeat_with;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Evenly spaced moments, each given to the first connection that is free.
///
/// A connection that waits for its answer claims no moment, so a slow request delays no other
/// request as long as there are free connections; when there are none, the moments pass, and the
/// latencies grow.
pub(super) struct DueMoments {
    start: Instant,
    rate: u64,
    count: u64,
    /// The percentage of the requests that hold their thread, evenly spread.
    percent: u64,
    wanted: Wanted,
    next: AtomicU64,
}

/// Whether moments are given for requests that hold their thread, or for those that don't.
pub(super) type Wanted = fn(bool) -> bool;

#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) holds: bool,
    /// Whether a connection was free for the request in time.
    pub(super) in_time: bool,
}

impl DueMoments {
    /// Creates `rate` moments a second; `percent` of them are of requests that hold their thread.
    pub(super) fn new(start: Instant, rate: u64, duration: Duration, percent: u64, wanted: Wanted) -> Self {
        let count = (u128::from(rate) * duration.as_nanos()).div_ceil(1_000_000_000) as u64;
        DueMoments { start, rate, count, percent, wanted, next: AtomicU64::new(0) }
    }

    /// Takes the next moment and sleeps until it has come. `None` when all are taken.
    pub(super) fn wait(&self) -> Option<Due> {
        let mut free = repeat_with(|| self.next.fetch_add(1, Relaxed)).take_while(|number| *number < self.count);
        let number = free.find(|number| (self.wanted)(self.holds(*number)))?;
        let after = u128::from(number) * 1_000_000_000 / u128::from(self.rate);
        let at = self.start + Duration::from_nanos(after as u64);
        let wait = at.checked_duration_since(Instant::now());
        wait.into_iter().for_each(thread::sleep);
        Some(Due { at, holds: self.holds(number), in_time: wait.is_some() })
    }

    fn holds(&self, number: u64) -> bool {
        (number + 1) * self.percent / 100 > number * self.percent / 100
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Requests whose moments have passed: their milliseconds, and whether they hold their thread.
    fn taken(rate: u64, duration: Duration, percent: u64, wanted: Wanted) -> Vec<(u128, bool)> {
        let past = Instant::now() - 60 * SECOND;
        let moments = DueMoments::new(past, rate, duration, percent, wanted);
        let due = std::iter::from_fn(|| moments.wait().inspect(|due| assert!(!due.in_time, "{due:?}")));
        due.map(|due| ((due.at - past).as_millis(), due.holds)).collect()
    }

    #[test]
    fn moments_are_evenly_spaced_and_none_is_given_twice() {
        let start = Instant::now();
        let moments = DueMoments::new(start, 1000, SECOND, 0, |_| true);
        for number in 0..3 {
            let due = moments.wait().unwrap();
            assert_eq!(due.at, start + Duration::from_millis(number));
            assert!(Instant::now() >= due.at);
        }
    }

    #[test]
    fn those_that_hold_and_the_others_are_all_and_none_is_both_whether_they_share_connections_or_not() {
        let wanted: [Wanted; 3] = [|holds| holds, |holds| !holds, |_| true];
        let [holding, others, all] = wanted.map(|wanted| taken(100, SECOND, 5, wanted));
        assert_eq!(holding, [190, 390, 590, 790, 990].map(|at| (at, true)));
        assert!(others.len() == 95 && others.iter().all(|due| !holding.contains(due)), "{others:?}");
        assert!((0..100).all(|number| all[number] == (10 * number as u128, number % 20 == 19)));
        assert_eq!(taken(7, 3 * SECOND, 0, |_| true).len(), 21);
    }
}
