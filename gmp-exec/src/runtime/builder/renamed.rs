//! Old names of tokio's for the settings of histograms, for programs that still use them.

use std::time::Duration;

use crate::metrics::{HistogramConfiguration, HistogramScale, Scaled};
use crate::runtime::Builder;

impl Builder {
    #[deprecated = "renamed to enable_metrics_poll_time_histogram"]
    #[doc(hidden)]
    pub fn enable_metrics_poll_count_histogram(&mut self) -> &mut Self {
        self.enable_metrics_poll_time_histogram()
    }

    #[deprecated = "use metrics_poll_time_histogram_configuration"]
    /// Sets whether the buckets of the histogram of poll times have one width, or double. Default:
    /// one width.
    ///
    /// # Examples
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// use gmp_exec::runtime::{Builder, HistogramScale};
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_count_histogram_scale(HistogramScale::Log)
    ///     .metrics_poll_count_histogram_resolution(Duration::from_nanos(1 << 10))
    ///     .metrics_poll_count_histogram_buckets(3)
    ///     .build()
    ///     .unwrap();
    /// let second = runtime.metrics().poll_time_histogram_bucket_range(1);
    /// assert_eq!(second, Duration::from_nanos(1 << 10)..Duration::from_nanos(1 << 11));
    /// ```
    pub fn metrics_poll_count_histogram_scale(&mut self, histogram_scale: HistogramScale) -> &mut Self {
        self.set_scaled(|scaled| scaled.scale = histogram_scale)
    }

    #[deprecated = "use metrics_poll_time_histogram_configuration"]
    /// Sets the width of the first bucket of the histogram of poll times. Default: 100 µs.
    ///
    /// # Panics
    ///
    /// Panics if `resolution` is zero or longer than a second.
    ///
    /// # Examples
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_count_histogram_resolution(Duration::from_millis(1))
    ///     .build()
    ///     .unwrap();
    /// let first = runtime.metrics().poll_time_histogram_bucket_range(0);
    /// assert_eq!(first, Duration::ZERO..Duration::from_millis(1));
    /// ```
    #[track_caller]
    pub fn metrics_poll_count_histogram_resolution(&mut self, resolution: Duration) -> &mut Self {
        let is_allowed = !resolution.is_zero() && resolution <= Duration::from_secs(1);
        assert!(is_allowed, "the resolution must be more than 0 and at most 1 s, not {resolution:?}");
        self.set_scaled(|scaled| scaled.resolution = resolution)
    }

    #[deprecated = "use metrics_poll_time_histogram_configuration"]
    /// Sets the number of buckets of the histogram of poll times. Default: 10.
    ///
    /// # Panics
    ///
    /// Panics if `buckets` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_count_histogram_buckets(15)
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(runtime.metrics().poll_time_histogram_num_buckets(), 15);
    /// ```
    #[track_caller]
    pub fn metrics_poll_count_histogram_buckets(&mut self, buckets: usize) -> &mut Self {
        self.set_scaled(|scaled| scaled.buckets = buckets)
    }

    #[track_caller]
    fn set_scaled(&mut self, set: impl FnOnce(&mut Scaled)) -> &mut Self {
        set(&mut self.histograms.scaled);
        let Scaled { scale, resolution, buckets } = self.histograms.scaled;
        self.histograms.of_polls = HistogramConfiguration::scaled(scale, resolution, buckets);
        self
    }
}
