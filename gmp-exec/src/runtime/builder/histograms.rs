//! The builder's settings of histograms.

use crate::metrics::HistogramConfiguration;
use crate::runtime::Builder;

impl Builder {
    /// Counts how long polls take, for [`RuntimeMetrics::poll_time_histogram_bucket_count`].
    ///
    /// Each poll then takes two readings of the clock longer (about 25 ns each). Default: polls are
    /// not measured. Blocking closures never are.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime =
    ///     Builder::new_multi_thread().enable_metrics_poll_time_histogram().build().unwrap();
    /// assert!(runtime.metrics().poll_time_histogram_enabled());
    /// ```
    ///
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`]:
    ///     crate::runtime::RuntimeMetrics::poll_time_histogram_bucket_count
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.histograms.measures_polls = true;
        self
    }

    /// Sets the buckets of the histogram of poll times. Has no effect without
    /// [`enable_metrics_poll_time_histogram`](Self::enable_metrics_poll_time_histogram). Default:
    /// ten buckets of 100 µs.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, HistogramConfiguration, LogHistogram};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::log(
    ///         LogHistogram::default(),
    ///     ))
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(runtime.metrics().poll_time_histogram_num_buckets(), 119);
    /// ```
    pub fn metrics_poll_time_histogram_configuration(&mut self, configuration: HistogramConfiguration) -> &mut Self {
        self.histograms.of_polls = configuration;
        self
    }

    /// Counts how long tasks wait from the moment at which they are spawned or woken to the
    /// beginning of the poll, for [`RuntimeMetrics::schedule_latency_histogram_bucket_count`].
    ///
    /// One of eight schedulings is measured
    /// ([`metrics_schedule_latency_histogram_sample`] sets how many). Default: none is. Blocking
    /// closures, and tasks of a [`LocalSet`](crate::task::LocalSet), never are.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime =
    ///     Builder::new_multi_thread().enable_metrics_schedule_latency_histogram().build().unwrap();
    /// assert!(runtime.metrics().schedule_latency_histogram_enabled());
    /// ```
    ///
    /// [`RuntimeMetrics::schedule_latency_histogram_bucket_count`]:
    ///     crate::runtime::RuntimeMetrics::schedule_latency_histogram_bucket_count
    /// [`metrics_schedule_latency_histogram_sample`]:
    ///     Self::metrics_schedule_latency_histogram_sample
    pub fn enable_metrics_schedule_latency_histogram(&mut self) -> &mut Self {
        self.histograms.measures_latencies = true;
        self
    }

    /// Sets the buckets of the histogram of scheduling latencies. Has no effect without
    /// [`enable_metrics_schedule_latency_histogram`]. Default: ten buckets of 100 µs.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, HistogramConfiguration};
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_schedule_latency_histogram()
    ///     .metrics_schedule_latency_histogram_configuration(HistogramConfiguration::linear(
    ///         Duration::from_millis(1),
    ///         100,
    ///     ))
    ///     .build()
    ///     .unwrap();
    /// assert_eq!(runtime.metrics().schedule_latency_histogram_num_buckets(), 100);
    /// ```
    ///
    /// [`enable_metrics_schedule_latency_histogram`]:
    ///     Self::enable_metrics_schedule_latency_histogram
    pub fn metrics_schedule_latency_histogram_configuration(
        &mut self,
        configuration: HistogramConfiguration,
    ) -> &mut Self {
        self.histograms.of_latencies = configuration;
        self
    }

    /// Sets of how many schedulings one is measured for the histogram of scheduling latencies; 1:
    /// each is, as on tokio. The distances vary, so that a program with a rhythm of its own is
    /// measured fairly. Default: 8.
    ///
    /// # Panics
    ///
    /// Panics if `one_of` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_metrics_schedule_latency_histogram()
    ///     .metrics_schedule_latency_histogram_sample(1)
    ///     .build()
    ///     .unwrap();
    /// # drop(runtime);
    /// ```
    #[track_caller]
    pub fn metrics_schedule_latency_histogram_sample(&mut self, one_of: u32) -> &mut Self {
        assert!(one_of > 0, "one of at least 1 scheduling is measured");
        self.histograms.sample = one_of;
        self
    }
}
