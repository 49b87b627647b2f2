//! The results of many requests.

use std::collections::BTreeMap;
use std::time::Duration;

use gmp_benches::report::Sending;
use hdrhistogram::Histogram;

use super::connection::Failure;
use super::due::Due;

/// The results of one kind of request.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The latencies from the due moments to the answers.
    pub(crate) answers: Tally,
    /// The server's part of the latencies: from the moment of sending, or from the due moment if
    /// every connection was waiting for an answer.
    pub(crate) served: Tally,
    /// How late requests were sent though a connection was free: the generator's own part.
    lateness: Tally,
    /// How many requests were sent late because every connection was waiting for an answer.
    no_connection: u64,
}

impl Seen {
    pub(super) fn record(&mut self, due: Due, lateness: Duration, latency: Duration, result: Result<(), Failure>) {
        self.answers.record(latency, result);
        if due.in_time {
            self.lateness.record(lateness, Ok(()));
            self.served.record(latency - lateness, Ok(()));
        } else {
            self.no_connection += 1;
            self.served.record(latency, Ok(()));
        }
    }

    /// The generator's part of the latencies.
    pub(crate) fn sending(&self) -> Sending {
        Sending {
            served_p99: self.served.millis_at(99.0),
            sent_late_p99: self.lateness.millis_at(99.0),
            sent_late_max: self.lateness.millis_at(100.0),
            no_connection: self.no_connection,
        }
    }

    /// Adds everything that `other` holds.
    pub(crate) fn add(&mut self, other: &Seen) {
        self.answers.add(&other.answers);
        self.served.add(&other.served);
        self.lateness.add(&other.lateness);
        self.no_connection += other.no_connection;
    }
}

/// Latencies and errors.
#[derive(Debug)]
pub(crate) struct Tally {
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
    fn record(&mut self, latency: Duration, result: Result<(), Failure>) {
        self.latencies.saturating_record(latency.as_micros() as u64);
        if let Err(failure) = result {
            *self.errors.entry(failure).or_default() += 1;
        }
    }

    /// Adds everything that `other` holds.
    pub(crate) fn add(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies).expect("all have the same bounds");
        for (what, count) in &other.errors {
            *self.errors.entry(what.clone()).or_default() += count;
        }
    }

    /// How many requests were recorded, failed ones too.
    pub(crate) fn requests(&self) -> u64 {
        self.latencies.len()
    }

    pub(crate) fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    /// The reasons why requests failed, and how many requests failed for each reason.
    pub(crate) fn errors(&self) -> &BTreeMap<String, u64> {
        &self.errors
    }

    /// A percentile in milliseconds: `percent` of the requests took at most this long.
    pub(crate) fn millis_at(&self, percent: f64) -> f64 {
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
}
