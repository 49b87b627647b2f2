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
        let past = Instant::now() - 60 * SECOND;
        let moments = DueMoments::new(past, 7, 3 * SECOND, vec![Share::AllBut(0)]);
        assert_eq!(std::iter::from_fn(|| moments.wait()).filter(|due| !due.in_time).count(), 21);
    }

    #[test]
    fn a_share_and_the_rest_are_all_and_none_is_in_both() {
        let past = Instant::now() - 60 * SECOND;
        let taken = |share| {
            let moments = DueMoments::new(past, 100, SECOND, vec![share]);
            std::iter::from_fn(|| moments.wait()).map(|due| (due.at - past).as_millis()).collect::<Vec<_>>()
        };
        let (share, rest) = (taken(Share::Percent(5)), taken(Share::AllBut(5)));
        assert_eq!(share, [190, 390, 590, 790, 990]);
        assert_eq!(rest.len(), 95);
        assert!(rest.iter().all(|at| !share.contains(at)));
    }

    #[test]
    fn two_shares_over_the_same_connections_keep_their_moments() {
        let past = Instant::now() - 60 * SECOND;
        let moments = DueMoments::new(past, 100, SECOND, vec![Share::AllBut(5), Share::Percent(5)]);
        let due: Vec<_> = std::iter::from_fn(|| moments.wait()).collect();
        assert_eq!(due.len(), 100);
        assert!(due.iter().enumerate().all(|(number, due)| due.share == usize::from(number % 20 == 19)));
    }

    #[test]
    fn nothing_and_everything_are_shares() {
        assert!((0..100).all(|number| !Share::Percent(0).includes(number) && Share::Percent(100).includes(number)));
    }
}
