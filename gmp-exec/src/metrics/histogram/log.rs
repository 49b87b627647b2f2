//! Buckets that grow with the value, so that the error is a fraction of the value.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::configuration::nanoseconds;

const DEFAULT_MIN: Duration = Duration::from_nanos(100);
const DEFAULT_MAX: Duration = Duration::from_secs(60);
const DEFAULT_PRECISION: u32 = 2;
const MOST_PRECISE: u32 = 10;

/// A histogram whose buckets grow with the value (an H2 histogram).
///
/// With a precision of `p`, each power of two is split into `2^p` buckets of the same width. The
/// first bucket holds all durations below the least one, the last bucket all that are longer than
/// the longest one. [`builder`](Self::builder) sets these three.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{HistogramConfiguration, LogHistogram};
///
/// let _configuration = HistogramConfiguration::log(LogHistogram::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    precision: u32,
    /// The number of the first bucket, if buckets are numbered from the duration 0 on.
    offset: u64,
    buckets: usize,
}

impl LogHistogram {
    /// Makes a builder with the default settings: from 100 ns to 60 s with four buckets per power
    /// of two, which are 119 buckets.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    ///
    /// assert_eq!(LogHistogram::builder().build(), LogHistogram::default());
    /// ```
    pub fn builder() -> LogHistogramBuilder {
        LogHistogramBuilder::default()
    }

    /// Returns the lowest duration, in nanoseconds, that is counted in the last bucket.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    /// use std::time::Duration;
    ///
    /// let histogram = LogHistogram::builder().max_value(Duration::from_millis(4)).build();
    /// assert!(u128::from(histogram.max_value()) >= Duration::from_millis(4).as_nanos());
    /// ```
    pub fn max_value(&self) -> u64 {
        self.start(self.buckets as u64 - 1)
    }

    /// A bucket for each power of two; the first one ends at `first`, which is one.
    pub(super) fn doubling(first: u64, buckets: usize) -> LogHistogram {
        LogHistogram { precision: 0, offset: u64::from(first.ilog2()), buckets }
    }

    pub(super) fn buckets(&self) -> usize {
        self.buckets
    }

    #[inline]
    pub(super) fn bucket_of(&self, value: u64) -> u64 {
        number(value, self.precision).saturating_sub(self.offset)
    }

    pub(super) fn start(&self, bucket: u64) -> u64 {
        start(bucket + self.offset, self.precision)
    }
}

impl Default for LogHistogram {
    fn default() -> Self {
        LogHistogramBuilder::default().build()
    }
}

/// The number of the bucket of `value`. Values below `2^(p+1)` have buckets of their own. Above,
/// the bucket is chosen by the `p + 1` highest bits and by how many lower bits there are.
#[inline]
fn number(value: u64, precision: u32) -> u64 {
    let lower_bits = u64::from(value.checked_ilog2().unwrap_or(0).saturating_sub(precision));
    (lower_bits << precision) + (value >> lower_bits)
}

/// The least value of bucket `number`.
fn start(number: u64, precision: u32) -> u64 {
    let lower_bits = (number >> precision).saturating_sub(1);
    let highest_bits = number - (lower_bits << precision);
    // Beyond the last bucket that a value can have.
    if lower_bits > u64::from(63 - precision) { u64::MAX } else { highest_bits << lower_bits }
}

/// The settings of a [`LogHistogram`].
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::LogHistogram;
/// use std::time::Duration;
///
/// let _histogram = LogHistogram::builder()
///     .min_value(Duration::from_micros(1))
///     .max_value(Duration::from_secs(8))
///     .max_error(0.25)
///     .max_buckets(100)
///     .expect("93 buckets");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LogHistogramBuilder {
    min: Option<Duration>,
    max: Option<Duration>,
    precision: Option<u32>,
}

impl LogHistogramBuilder {
    /// Sets the most that a bucket's width may be of its durations: 0.25 stands for a quarter. The
    /// widths are powers of two, so the error may be smaller. It is never larger than 0.25, and not
    /// less than 2^-10. Default: 0.25.
    ///
    /// # Panics
    ///
    /// Panics unless `max_error` is greater than 0 and less than 1.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    ///
    /// let exact = LogHistogram::builder().precision_exact(3).build();
    /// assert_eq!(LogHistogram::builder().max_error(0.2).build(), exact); // 2^-3 is 0.125
    /// ```
    #[must_use]
    #[track_caller]
    pub fn max_error(mut self, max_error: f64) -> Self {
        assert!(max_error > 0.0 && max_error < 1.0, "max_error must be between 0 and 1, not {max_error}");
        let is_enough = |precision: &u32| 0.5_f64.powi(*precision as i32) <= max_error;
        self.precision = Some((DEFAULT_PRECISION..MOST_PRECISE).find(is_enough).unwrap_or(MOST_PRECISE));
        self
    }

    /// Sets the precision: each power of two is split into `2^precision` buckets. Default: 2.
    ///
    /// # Panics
    ///
    /// Panics if `precision` is greater than 10.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    ///
    /// // Each bucket is twice as wide as the one before.
    /// let _doubling = LogHistogram::builder().precision_exact(0).build();
    /// ```
    #[must_use]
    #[track_caller]
    pub fn precision_exact(mut self, precision: u32) -> Self {
        assert!(precision <= MOST_PRECISE, "precision must be at most {MOST_PRECISE}, not {precision}");
        self.precision = Some(precision);
        self
    }

    /// Sets the least duration that is told apart from shorter ones. Default: 100 ns.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    /// use std::time::Duration;
    ///
    /// let _histogram = LogHistogram::builder().min_value(Duration::from_micros(10)).build();
    /// ```
    #[must_use]
    pub fn min_value(mut self, duration: Duration) -> Self {
        self.min = Some(duration);
        self
    }

    /// Sets the longest duration that is told apart from longer ones. Default: 60 s.
    ///
    /// # Panics
    ///
    /// Panics if `duration` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    /// use std::time::Duration;
    ///
    /// let _histogram = LogHistogram::builder().max_value(Duration::from_secs(1)).build();
    /// ```
    #[must_use]
    #[track_caller]
    pub fn max_value(mut self, duration: Duration) -> Self {
        assert!(!duration.is_zero(), "max_value must be greater than 0");
        self.max = Some(duration);
        self
    }

    /// Makes the histogram, if it has at most `max_buckets` buckets. A bucket takes eight bytes per
    /// worker.
    ///
    /// # Errors
    ///
    /// Fails if the settings need more buckets.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    ///
    /// assert!(LogHistogram::builder().max_buckets(119).is_ok());
    /// let error = LogHistogram::builder().max_buckets(118).unwrap_err();
    /// assert!(error.to_string().contains("119 buckets"));
    /// ```
    pub fn max_buckets(&mut self, max_buckets: usize) -> Result<LogHistogram, InvalidHistogramConfiguration> {
        let histogram = self.build();
        if histogram.buckets > max_buckets {
            return Err(InvalidHistogramConfiguration::TooManyBuckets { required_bucket_count: histogram.buckets });
        }
        Ok(histogram)
    }

    /// Makes the histogram.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::LogHistogram;
    ///
    /// let histogram = LogHistogram::builder().precision_exact(4).build();
    /// assert_ne!(histogram, LogHistogram::default());
    /// ```
    pub fn build(&self) -> LogHistogram {
        let precision = self.precision.unwrap_or(DEFAULT_PRECISION);
        let min = nanoseconds(self.min.unwrap_or(DEFAULT_MIN));
        let max = nanoseconds(self.max.unwrap_or(DEFAULT_MAX));
        // The first bucket ends at or before `min`.
        let offset = number(min, precision).max(1) - 1;
        let of_max = number(max, precision);
        let last = if start(of_max, precision) < max { of_max + 1 } else { of_max };
        LogHistogram { precision, offset, buckets: last.saturating_sub(offset).max(1) as usize + 1 }
    }
}

impl From<LogHistogramBuilder> for LogHistogram {
    fn from(builder: LogHistogramBuilder) -> Self {
        builder.build()
    }
}

/// Why a histogram can't be made.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::{InvalidHistogramConfiguration, LogHistogram};
///
/// let InvalidHistogramConfiguration::TooManyBuckets { required_bucket_count } =
///     LogHistogram::builder().max_buckets(5).unwrap_err();
/// assert_eq!(required_bucket_count, 119);
/// ```
#[derive(Debug)]
pub enum InvalidHistogramConfiguration {
    /// The settings need more buckets than the caller allows.
    TooManyBuckets {
        /// How many buckets the settings need.
        required_bucket_count: usize,
    },
}

impl fmt::Display for InvalidHistogramConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidHistogramConfiguration::TooManyBuckets { required_bucket_count } = self;
        write!(f, "the histogram needs {required_bucket_count} buckets, which is more than allowed")
    }
}

impl Error for InvalidHistogramConfiguration {}
