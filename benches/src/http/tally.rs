//! Latencies and errors of many requests.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::Failure;

/// The results of many requests.
#[derive(Debug)]
pub struct Tally {
    /// In microseconds.
    latencies: Histogram<u64>,
    errors: BTreeMap<String, u64>,
}

impl Default for Tally {
    fn default() -> Self {
        // From 1 µs to an hour with 3 digits.
        let latencies = Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constant and good");
        Tally { latencies, errors: BTreeMap::new() }
    }
}

impl Tally {
    /// Records one request. The latency of a failed request is recorded too: without requests that
    /// ran into a timeout, a server would look better for failing.
    pub fn record(&mut self, latency: Duration, result: Result<(), Failure>) {
        self.latencies.saturating_record(latency.as_micros() as u64);
        if let Err(failure) = result {
            *self.errors.entry(failure).or_default() += 1;
        }
    }

    /// Adds everything that `other` holds.
    pub fn add(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies).expect("all have the same bounds");
        for (what, count) in &other.errors {
            *self.errors.entry(what.clone()).or_default() += count;
        }
    }

    /// How many requests were recorded, failed ones too.
    pub fn requests(&self) -> u64 {
        self.latencies.len()
    }

    /// How many requests failed.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The reasons why requests failed, and how many requests failed for each reason.
    pub fn errors(&self) -> impl Iterator<Item = (&str, u64)> {
        self.errors.iter().map(|(what, count)| (what.as_str(), *count))
    }

    /// A percentile in milliseconds: `percent` of the requests took at most this long.
    pub fn millis_at(&self, percent: f64) -> f64 {
        self.latencies.value_at_percentile(percent) as f64 / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_request_counts_among_the_latencies_and_the_errors() {
        let mut tally = Tally::default();
        tally.record(Duration::from_millis(1), Ok(()));
        tally.record(Duration::from_secs(2), Err("not sent".to_owned()));
        assert_eq!((tally.requests(), tally.failed()), (2, 1));
        assert!(tally.millis_at(100.0) >= 2000.0, "{tally:?}");
    }

    #[test]
    fn percentiles_of_a_sum_are_those_of_all_requests() {
        let (mut one, mut other) = (Tally::default(), Tally::default());
        (1..=50).for_each(|ms| one.record(Duration::from_millis(ms), Ok(())));
        (51..=100).for_each(|ms| other.record(Duration::from_millis(ms), Ok(())));
        one.add(&other);
        assert!([50.0, 99.0].iter().all(|&percent| (one.millis_at(percent) - percent).abs() < 0.1), "{one:?}");
    }
}
