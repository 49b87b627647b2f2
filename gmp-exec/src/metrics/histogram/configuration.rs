//! Which durations share a bucket.

use std::ops::Range;
use std::time::Duration;

use super::log::LogHistogram;

/// The buckets of a histogram.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{Builder, HistogramConfiguration};
/// use std::time::Duration;
///
/// let runtime = Builder::new_multi_thread()
///     .enable_metrics_poll_time_histogram()
///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::linear(
///         Duration::from_micros(500),
///         40,
///     ))
///     .build()
///     .unwrap();
/// assert_eq!(runtime.metrics().poll_time_histogram_num_buckets(), 40);
/// ```
#[derive(Clone, Debug)]
pub struct HistogramConfiguration(Shape);

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// `width` in nanoseconds.
    Linear {
        width: u64,
        buckets: usize,
    },
    Log(LogHistogram),
}

/// How the buckets of a histogram grow.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{HistogramConfiguration, HistogramScale};
/// use std::time::Duration;
///
/// let scale = HistogramScale::Log;
/// let _configuration = HistogramConfiguration::scaled(scale, Duration::from_micros(50), 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistogramScale {
    /// All buckets have the same width.
    Linear,
    /// Each bucket is twice as wide as the one before.
    Log,
}

impl HistogramConfiguration {
    /// Buckets of the same width. The last one also holds all longer durations.
    ///
    /// # Panics
    ///
    /// Panics if `bucket_width` or `num_buckets` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::HistogramConfiguration;
    /// use std::time::Duration;
    ///
    /// let _to_a_millisecond = HistogramConfiguration::linear(Duration::from_micros(10), 100);
    /// ```
    #[track_caller]
    pub fn linear(bucket_width: Duration, num_buckets: usize) -> HistogramConfiguration {
        check(bucket_width, num_buckets);
        HistogramConfiguration(Shape::Linear { width: nanoseconds(bucket_width), buckets: num_buckets })
    }

    /// Buckets that grow with the duration.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{HistogramConfiguration, LogHistogram};
    ///
    /// let _configuration = HistogramConfiguration::log(LogHistogram::builder().max_error(0.1));
    /// ```
    pub fn log(configuration: impl Into<LogHistogram>) -> HistogramConfiguration {
        HistogramConfiguration(Shape::Log(configuration.into()))
    }

    /// Buckets by tokio's older settings. `resolution` is the width of the first bucket; with
    /// [`HistogramScale::Log`] it is rounded up to a power of two of nanoseconds. The last bucket
    /// also holds all longer durations.
    ///
    /// # Panics
    ///
    /// Panics if `resolution` or `num_buckets` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, HistogramConfiguration, HistogramScale};
    /// use std::time::Duration;
    ///
    /// let scale = HistogramScale::Log;
    /// let configuration = HistogramConfiguration::scaled(scale, Duration::from_nanos(1_000), 3);
    /// let runtime = Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_time_histogram_configuration(configuration)
    ///     .build()
    ///     .unwrap();
    /// let second = runtime.metrics().poll_time_histogram_bucket_range(1);
    /// assert_eq!(second, Duration::from_nanos(1_024)..Duration::from_nanos(2_048));
    /// ```
    #[track_caller]
    pub fn scaled(scale: HistogramScale, resolution: Duration, num_buckets: usize) -> HistogramConfiguration {
        check(resolution, num_buckets);
        match scale {
            HistogramScale::Linear => HistogramConfiguration::linear(resolution, num_buckets),
            HistogramScale::Log => {
                let first = nanoseconds(resolution).checked_next_power_of_two().unwrap_or(1 << 63);
                HistogramConfiguration::log(LogHistogram::doubling(first, num_buckets))
            }
        }
    }

    pub(super) fn buckets(&self) -> usize {
        match self.0 {
            Shape::Linear { buckets, .. } => buckets,
            Shape::Log(log) => log.buckets(),
        }
    }

    #[inline]
    pub(super) fn bucket_of(&self, value: u64) -> usize {
        let bucket = match &self.0 {
            Shape::Linear { width, .. } => value / width,
            Shape::Log(log) => log.bucket_of(value),
        };
        bucket.min(self.buckets() as u64 - 1) as usize
    }

    /// In nanoseconds. The last bucket ends at `u64::MAX`.
    pub(super) fn range(&self, bucket: usize) -> Range<u64> {
        let start = if bucket == 0 { 0 } else { self.start(bucket as u64) };
        let end = if bucket + 1 == self.buckets() { u64::MAX } else { self.start(bucket as u64 + 1) };
        start..end
    }

    fn start(&self, bucket: u64) -> u64 {
        match &self.0 {
            Shape::Linear { width, .. } => width.saturating_mul(bucket),
            Shape::Log(log) => log.start(bucket),
        }
    }
}

/// Ten buckets of 100 µs, as on tokio.
impl Default for HistogramConfiguration {
    fn default() -> Self {
        HistogramConfiguration::linear(Duration::from_micros(100), 10)
    }
}

#[track_caller]
fn check(width: Duration, buckets: usize) {
    assert!(!width.is_zero(), "the width of a bucket must be greater than 0");
    assert!(buckets > 0, "a histogram must have a bucket");
}

pub(super) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
