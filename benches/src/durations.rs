//! Many durations, of which only percentiles are asked for.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The points of a curve of latencies.
const PERCENTILES: [f64; 9] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99, 100.0];

/// From 1 µs to an hour with 3 digits.
#[derive(Debug, Clone)]
pub struct Durations(Histogram<u64>);

impl Default for Durations {
    fn default() -> Self {
        Durations(Histogram::new_with_bounds(1, 3_600_000_000, 3).expect("the bounds are constant and good"))
    }
}

impl FromIterator<Duration> for Durations {
    fn from_iter<T: IntoIterator<Item = Duration>>(iter: T) -> Self {
        let mut durations = Durations::default();
        iter.into_iter().for_each(|duration| durations.record(duration));
        durations
    }
}

impl Durations {
    pub fn record(&mut self, duration: Duration) {
        self.0.saturating_record(duration.as_micros() as u64);
    }

    pub fn add(&mut self, other: &Durations) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// In milliseconds: `percent` of the durations are at or below it.
    pub fn millis_at(&self, percent: f64) -> f64 {
        self.0.value_at_percentile(percent) as f64 / 1000.0
    }

    /// Percentiles, and the milliseconds at them.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        PERCENTILES.map(|percent| (percent, self.millis_at(percent))).to_vec()
    }
}
