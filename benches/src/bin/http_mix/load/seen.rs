//! The results of many requests.

use std::collections::BTreeMap;
use std::time::Duration;

use gmp_benches::measure::Durations;
use gmp_benches::report::Sending;

use super::due::Due;

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// From the due moments, of failed requests too: a server must not look better for failing.
    pub(crate) answers: Durations,
    /// The reasons why requests failed, and how many requests failed for each reason.
    pub(crate) failures: BTreeMap<String, u64>,
    /// The server's part: since the sending, or since the due moment without a free connection.
    pub(crate) served: Durations,
    /// How late requests were sent though a connection was free: the generator's own part.
    lateness: Durations,
    /// How many requests were sent late because every connection was waiting for an answer.
    no_connection: u64,
}

impl Seen {
    pub(super) fn record(&mut self, due: Due, lateness: Duration, latency: Duration, failure: Option<String>) {
        self.answers.record(latency);
        if let Some(failure) = failure {
            *self.failures.entry(failure).or_default() += 1;
        }
        if due.in_time {
            self.lateness.record(lateness);
            self.served.record(latency - lateness);
        } else {
            self.no_connection += 1;
            self.served.record(latency);
        }
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    pub(crate) fn sending(&self) -> Sending {
        Sending {
            served_p99: self.served.millis_at(99.0),
            sent_late_p99: self.lateness.millis_at(99.0),
            sent_late_max: self.lateness.millis_at(100.0),
            no_connection: self.no_connection,
        }
    }

    pub(crate) fn add(&mut self, other: &Seen) {
        self.answers.add(&other.answers);
        self.served.add(&other.served);
        self.lateness.add(&other.lateness);
        self.no_connection += other.no_connection;
        for (what, count) in &other.failures {
            *self.failures.entry(what.clone()).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_failed_request_counts_among_the_latencies_and_the_errors() {
        let (mut seen, due) = (Seen::default(), Due { at: Instant::now(), holds: false, in_time: true });
        seen.record(due, Duration::ZERO, Duration::from_millis(1), None);
        seen.record(due, Duration::ZERO, Duration::from_secs(2), Some("not sent".to_owned()));
        assert_eq!((seen.answers.count(), seen.failed()), (2, 1));
        assert!(seen.answers.millis_at(100.0) >= 2000.0, "{seen:?}");
    }
}
