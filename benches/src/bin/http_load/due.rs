//! The moments at which requests are due.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// Evenly spaced moments, each given to the first connection that is free for it.
///
/// A connection that waits for its answer claims nothing, so a slow request delays no other as long as there are
/// free connections; when there are none, the moments go by, and the latencies grow.
#[derive(Debug)]
pub(crate) struct DueMoments {
    start: Instant,
    rate: u64,
    count: u64,
    next: AtomicU64,
}

/// A request that is to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Due {
    /// Its number, from 0.
    pub(crate) number: u64,
    pub(crate) at: Instant,
}

impl DueMoments {
    pub(crate) fn new(start: Instant, rate: u64, secs: u64) -> Self {
        DueMoments { start, rate, count: rate * secs, next: AtomicU64::new(0) }
    }

    /// Takes the next moment, and sleeps until it has come. `None` when all are taken.
    pub(crate) fn wait(&self) -> Option<Due> {
        let number = self.next.fetch_add(1, Relaxed);
        if number >= self.count {
            return None;
        }
        let at = self.start + Duration::from_nanos(number * 1_000_000_000 / self.rate);
        thread::sleep(at.saturating_duration_since(Instant::now()));
        Some(Due { number, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_evenly_spaced_and_none_is_given_twice() {
        let start = Instant::now();
        let moments = DueMoments::new(start, 1000, 1);
        for number in 0..3 {
            let due = moments.wait().unwrap();
            assert_eq!((due.number, due.at), (number, start + Duration::from_millis(number)));
            assert!(Instant::now() >= due.at);
        }
    }

    #[test]
    fn there_are_as_many_as_the_rate_makes_in_the_time() {
        let past = Instant::now() - Duration::from_secs(60);
        let moments = DueMoments::new(past, 7, 3);
        assert_eq!(std::iter::from_fn(|| moments.wait()).count(), 21);
    }
}
