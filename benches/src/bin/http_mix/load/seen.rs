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
    /// Since the sending, or since the due moment without a free connection.
    pub(crate) sent: Durations,
    /// The server's part of that: until the answer has arrived at the client's socket. Answers
    /// without a known time of arrival are left out.
    pub(crate) served: Durations,
    /// How late requests were sent though a connection was free: the generator's own part.
    lateness: Durations,
    /// How many requests were sent late because every connection was waiting for an answer.
    no_connection: u64,
    /// How many answers have no known time of arrival.
    pub(crate) without_arrival: u64,
}

impl Seen {
    /// `unread`: how long the answer had been at the socket when the client got it; `None`: there is
    /// none, or the kernel has not said.
    pub(super) fn record(
        &mut self,
        due: Due,
        lateness: Duration,
        latency: Duration,
        unread: Option<Duration>,
        failure: Option<String>,
    ) {
        self.answers.record(latency);
        let has_failed = failure.is_some();
        if let Some(failure) = failure {
            *self.failures.entry(failure).or_default() += 1;
        }
        let sent = if due.in_time {
            self.lateness.record(lateness);
            latency - lateness
        } else {
            self.no_connection += 1;
            latency
        };
        self.sent.record(sent);
        match unread {
            Some(unread) => self.served.record(sent.saturating_sub(unread)),
            None if has_failed => self.served.record(sent),
            None => self.without_arrival += 1,
        }
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    pub(crate) fn sending(&self) -> Sending {
        Sending {
            sent_p99: self.sent.millis_at(99.0),
            served_p99: self.served.millis_at(99.0),
            sent_late_p99: self.lateness.millis_at(99.0),
            sent_late_max: self.lateness.millis_at(100.0),
            no_connection: self.no_connection,
        }
    }

    pub(crate) fn add(&mut self, other: &Seen) {
        self.answers.add(&other.answers);
        self.sent.add(&other.sent);
        self.served.add(&other.served);
        self.lateness.add(&other.lateness);
        self.no_connection += other.no_connection;
        self.without_arrival += other.without_arrival;
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
        seen.record(due, Duration::ZERO, Duration::from_millis(1), Some(Duration::ZERO), None);
        seen.record(due, Duration::ZERO, Duration::from_secs(2), None, Some("not sent".to_owned()));
        assert_eq!((seen.answers.count(), seen.failed()), (2, 1));
        assert!(seen.answers.millis_at(100.0) >= 2000.0, "{seen:?}");
    }

    #[test]
    fn the_time_in_which_an_answer_lay_at_the_socket_is_not_the_servers_part() {
        let (mut seen, due) = (Seen::default(), Due { at: Instant::now(), holds: false, in_time: true });
        seen.record(due, Duration::from_millis(1), Duration::from_millis(8), Some(Duration::from_millis(4)), None);
        let Sending { sent_p99, served_p99, sent_late_p99, .. } = seen.sending();
        assert_eq!([sent_p99, served_p99, sent_late_p99].map(f64::round), [7.0, 3.0, 1.0]);
        seen.record(due, Duration::ZERO, Duration::from_secs(1), None, None);
        assert_eq!((seen.served.count(), seen.without_arrival), (1, 1), "an answer without a time of arrival");
    }
}
