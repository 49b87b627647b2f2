//! Histograms of durations.

use std::time::Duration;

use hdrhistogram::Histogram;

/// From 1 µs to 10 min with 3 digits.
pub(crate) fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constant and good")
}

pub(crate) fn record(histogram: &mut Histogram<u64>, duration: Duration) {
    histogram.saturating_record(duration.as_micros() as u64);
}

/// The histogram of `durations`.
pub(crate) fn of(durations: impl IntoIterator<Item = Duration>) -> Histogram<u64> {
    let mut histogram = new();
    durations.into_iter().for_each(|duration| record(&mut histogram, duration));
    histogram
}

/// The percentile in ms: `percent` of the durations are at or below it.
pub(crate) fn millis(histogram: &Histogram<u64>, percentile: f64) -> f64 {
    histogram.value_at_percentile(percentile) as f64 / 1000.0
}
