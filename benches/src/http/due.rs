//! The moments at which requests are due.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Selects a part of the due requests.
#[derive(Debug, Clone, Copy)]
pub enum Share {
    /// This percentage of the requests, evenly spread.
    Percent(u64),
    /// All requests but this percentage.
    AllBut(u64),
}

impl Share {
    pub(super) fn includes(self, number: u64) -> bool {
        let among = |percent| (number + 1) * percent / 100 > number * percent / 100;
        match self {
            Share::Percent(percent) => among(percent),
            Share::AllBut(percent) => !among(percent),
        }
    }
}

/// Evenly spaced moments, each given to the first connection that is free.
///
/// A connection that waits for its answer claims no moment, so a slow request delays no other
/// request as long as there are free connections; when there are none, the moments pass, and the
/// latencies grow.
#[derive(Debug)]
pub(super) struct DueMoments {
    start: Instant,
    rate: u64,
    count: u64,
    shares: Vec<Share>,
    next: AtomicU64,
}

/// A request that is to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Due {
    pub(super) at: Instant,
    /// The share that the request belongs to.
    pub(super) share: usize,
    /// Whether a connection was free for the request in time.
    pub(super) in_time: bool,
}

impl DueMoments {
    /// Creates `rate` moments a second, for this duration, and keeps those that are in one of the
    /// `shares`.
    pub(super) fn new(start: Instant, rate: u64, duration: Duration, shares: Vec<Share>) -> Self {
        let count = (u128::from(rate) * duration.as_nanos()).div_ceil(1_000_000_000) as u64;
        DueMoments { start, rate, count, shares, next: AtomicU64::new(0) }
    }

    /// Takes the next moment and sleeps until it has come. `None` when all are taken.
    pub(super) fn wait(&self) -> Option<Due> {
        let (share, after) = self.take()?;
        let at = self.start + after;
        let wait = at.checked_duration_since(Instant::now());
        wait.into_iter().for_each(thread::sleep);
        Some(Due { at, share, in_time: wait.is_some() })
    }

    fn take(&self) -> Option<(usize, Duration)> {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            if number >= self.count {
                return None;
            }
            if let Some(share) = self.shares.iter().position(|share| share.includes(number)) {
                let after = u128::from(number) * 1_000_000_000 / u128::from(self.rate);
                return Some((share, Duration::from_nanos(after as u64)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The requests of a load whose moments have all passed: their milliseconds and their share.
    fn taken(rate: u64, duration: Duration, shares: Vec<Share>) -> Vec<(u128, usize)> {
        let past = Instant::now() - 60 * SECOND;
        let moments = DueMoments::new(past, rate, duration, shares);
        let due = std::iter::from_fn(|| moments.wait().inspect(|due| assert!(!due.in_time, "{due:?}")));
        due.map(|due| ((due.at - past).as_millis(), due.share)).collect()
    }

    #[test]
    fn moments_are_evenly_spaced_and_none_is_given_twice() {
        let start = Instant::now();
        let moments = DueMoments::new(start, 1000, SECOND, vec![Share::AllBut(0)]);
        for number in 0..3 {
            let due = moments.wait().unwrap();
            assert_eq!(due.at, start + Duration::from_millis(number));
            assert!(Instant::now() >= due.at);
        }
    }

    #[test]
    fn there_are_as_many_as_the_rate_makes_in_the_time() {
        assert_eq!(taken(7, 3 * SECOND, vec![Share::AllBut(0)]).len(), 21);
    }

    #[test]
    fn a_share_and_the_rest_are_all_and_none_is_in_both_whether_they_share_connections_or_not() {
        let (share, rest) = (taken(100, SECOND, vec![Share::Percent(5)]), taken(100, SECOND, vec![Share::AllBut(5)]));
        assert_eq!(share, [190, 390, 590, 790, 990].map(|at| (at, 0)));
        assert!(rest.len() == 95 && rest.iter().all(|due| !share.contains(due)), "{rest:?}");
        let both = taken(100, SECOND, vec![Share::AllBut(5), Share::Percent(5)]);
        assert!((0..100).all(|number| both[number] == (10 * number as u128, usize::from(number % 20 == 19))));
        assert!((0..100).all(|number| !Share::Percent(0).includes(number) && Share::Percent(100).includes(number)));
    }
}
