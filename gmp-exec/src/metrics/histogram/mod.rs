//! Histograms of durations: the buckets are chosen when the runtime is built.

mod configuration;
mod log;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::ops::Range;
use std::time::Duration;

pub use configuration::{HistogramConfiguration, HistogramScale};
pub use log::{InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder};

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

/// How many durations fell into each bucket. Several threads may record at once: a machine that has
/// lost its processor during a poll records beside the machine that has the processor now.
#[derive(Debug)]
pub(crate) struct Histogram {
    configuration: HistogramConfiguration,
    counts: Box<[AtomicU64]>,
    /// Nanoseconds.
    sum: AtomicU64,
}

impl Histogram {
    pub(crate) fn new(configuration: &HistogramConfiguration) -> Histogram {
        let counts = (0..configuration.buckets()).map(|_| AtomicU64::new(0)).collect();
        Histogram { configuration: configuration.clone(), counts, sum: AtomicU64::new(0) }
    }

    pub(crate) fn record(&self, nanoseconds: u64) {
        self.counts[self.configuration.bucket_of(nanoseconds)].fetch_add(1, Relaxed);
        self.sum.fetch_add(nanoseconds, Relaxed);
    }

    pub(super) fn buckets(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn count(&self, bucket: usize) -> u64 {
        self.counts[bucket].load(Relaxed)
    }

    pub(super) fn range(&self, bucket: usize) -> Range<Duration> {
        assert!(bucket < self.buckets(), "the histogram has {} buckets, so none is {bucket}", self.buckets());
        let range = self.configuration.range(bucket);
        Duration::from_nanos(range.start)..Duration::from_nanos(range.end)
    }

    pub(super) fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum.load(Relaxed))
    }
}
