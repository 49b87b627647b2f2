//! Latencies and errors of many requests.

use std::{collections::BTreeMap, time::Duration};

use hdrhistogram::Histogram;

use crate::connection::Failure;

/// What one thread saw, and later what all saw.
#[derive(Debug)]
pub(crate) struct Tally {
    /// In microseconds.
    latencies: Histogram<u64>,
    pub(crate) errors: BTreeMap<String, u64>,
}

impl Default for Tally {
    fn default() -> Self {
        // From 1 µs to an hour with 3 digits.
        let latencies = Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constant and good");
        Tally { latencies, errors: BTreeMap::new() }
    }
}

impl Tally {
    /// Records one request. The latency of a failed one is recorded too: leaving out requests that ran into a timeout
    /// would make a server look better for failing.
    pub(crate) fn record(&mut self, latency: Duration, result: Result<(), Failure>) {
        self.latencies.saturating_record(latency.as_micros() as u64);
        if let Err(failure) = result {
            *self.errors.entry(failure.to_string()).or_default() += 1;
        }
    }

    pub(crate) fn add(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies).expect("all have the same bounds");
        for (what, count) in &other.errors {
            *self.errors.entry(what.clone()).or_default() += count;
        }
    }

    /// How many requests were recorded.
    pub(crate) fn len(&self) -> u64 {
        self.latencies.len()
    }

    /// A latency in milliseconds.
    pub(crate) fn millis_at(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1000.0
    }
}
