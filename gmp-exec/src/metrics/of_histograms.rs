//! The histograms and averages of `RuntimeMetrics`.

use std::ops::Range;
use std::time::Duration;

use super::RuntimeMetrics;
use super::histogram::Histogram;

impl RuntimeMetrics {
    /// Returns whether the durations of polls are counted, which
    /// [`enable_metrics_poll_time_histogram`] asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let mut builder = Builder::new_current_thread();
    /// assert!(!builder.build().unwrap().metrics().poll_time_histogram_enabled());
    /// builder.enable_metrics_poll_time_histogram();
    /// assert!(builder.build().unwrap().metrics().poll_time_histogram_enabled());
    /// ```
    ///
    /// [`enable_metrics_poll_time_histogram`]:
    ///     crate::runtime::Builder::enable_metrics_poll_time_histogram
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.scheduler.observers.measuring.polls
    }

    /// Returns the number of buckets for the durations of polls; 0 if these are not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build().unwrap();
    /// assert_eq!(runtime.metrics().poll_time_histogram_num_buckets(), 10);
    /// ```
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        self.poll_times(0).map_or(0, Histogram::buckets)
    }

    /// Returns which durations of polls are counted in `bucket`. Empty if none are.
    ///
    /// # Panics
    ///
    /// Panics unless `bucket` is less than [`poll_time_histogram_num_buckets`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build().unwrap();
    /// let second = runtime.metrics().poll_time_histogram_bucket_range(1);
    /// assert_eq!(second, Duration::from_micros(100)..Duration::from_micros(200));
    /// ```
    ///
    /// [`poll_time_histogram_num_buckets`]: Self::poll_time_histogram_num_buckets
    #[track_caller]
    pub fn poll_time_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        self.poll_times(0).map_or_else(Range::default, |histogram| histogram.range(bucket))
    }

    /// Returns how many polls of processor `worker` took as long as `bucket` says; 0 if they are
    /// not counted. The sum over all buckets is the
    /// [`worker_poll_count`](Self::worker_poll_count), apart from polls that are under way.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers), and `bucket` less
    /// than [`poll_time_histogram_num_buckets`](Self::poll_time_histogram_num_buckets).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// let metrics = runtime.metrics();
    /// let counts = (0..10).map(|bucket| metrics.poll_time_histogram_bucket_count(0, bucket));
    /// assert_eq!(counts.sum::<u64>(), 1);
    /// ```
    #[track_caller]
    pub fn poll_time_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.poll_times(worker).map_or(0, |histogram| histogram.count(bucket))
    }

    /// Returns how long all polls of processor `worker` took that are in its histogram; zero if
    /// they are not counted.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build().unwrap();
    /// let task = runtime.spawn(async { std::thread::sleep(Duration::from_millis(2)) });
    /// runtime.block_on(task).unwrap();
    /// assert!(runtime.metrics().poll_time_histogram_sum(0) >= Duration::from_millis(2));
    /// ```
    #[track_caller]
    pub fn poll_time_histogram_sum(&self, worker: usize) -> Duration {
        self.poll_times(worker).map_or(Duration::ZERO, Histogram::sum)
    }

    /// Returns how long a poll of processor `worker` takes.
    ///
    /// With a histogram of poll times this is a moving average of the latest polls. Otherwise no
    /// poll is measured, and it is the processor's [busy time] divided by its polls. Zero if there
    /// was no poll.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// let task = runtime.spawn(async { std::thread::sleep(Duration::from_millis(2)) });
    /// runtime.block_on(task).unwrap();
    /// assert!(runtime.metrics().worker_mean_poll_time(0) >= Duration::from_millis(2));
    /// ```
    ///
    /// [busy time]: Self::worker_total_busy_duration
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        match &self.scheduler.processors[worker].histograms.polls {
            Some(polls) => Duration::from_nanos(polls.mean()),
            None => {
                let busy = self.worker_total_busy_duration(worker).as_nanos() as u64;
                Duration::from_nanos(busy.checked_div(self.worker_poll_count(worker)).unwrap_or(0))
            }
        }
    }

    /// Returns whether scheduling latencies are counted, which
    /// [`enable_metrics_schedule_latency_histogram`] asks for.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert!(!runtime.metrics().schedule_latency_histogram_enabled());
    /// ```
    ///
    /// [`enable_metrics_schedule_latency_histogram`]:
    ///     crate::runtime::Builder::enable_metrics_schedule_latency_histogram
    pub fn schedule_latency_histogram_enabled(&self) -> bool {
        self.scheduler.observers.measuring.latencies
    }

    /// Returns the number of buckets for scheduling latencies; 0 if these are not counted.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().schedule_latency_histogram_num_buckets(), 0);
    /// ```
    pub fn schedule_latency_histogram_num_buckets(&self) -> usize {
        self.latencies(0).map_or(0, Histogram::buckets)
    }

    /// Returns which scheduling latencies are counted in `bucket`. Empty if none are.
    ///
    /// # Panics
    ///
    /// Panics unless `bucket` is less than [`schedule_latency_histogram_num_buckets`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime =
    ///     Builder::new_current_thread().enable_metrics_schedule_latency_histogram().build().unwrap();
    /// let last = runtime.metrics().schedule_latency_histogram_bucket_range(9);
    /// assert_eq!(last, Duration::from_micros(900)..Duration::from_nanos(u64::MAX));
    /// ```
    ///
    /// [`schedule_latency_histogram_num_buckets`]: Self::schedule_latency_histogram_num_buckets
    #[track_caller]
    pub fn schedule_latency_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        self.latencies(0).map_or_else(Range::default, |histogram| histogram.range(bucket))
    }

    /// Returns how many of the tasks whose scheduling was measured, and which processor `worker`
    /// then polled, had waited for as long as `bucket` says; 0 if latencies are not counted.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers), and `bucket` less
    /// than [`schedule_latency_histogram_num_buckets`].
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_metrics_schedule_latency_histogram()
    ///     .metrics_schedule_latency_histogram_sample(1)
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// let metrics = runtime.metrics();
    /// let counts = (0..10).map(|bucket| metrics.schedule_latency_histogram_bucket_count(0, bucket));
    /// assert_eq!(counts.sum::<u64>(), 1);
    /// ```
    ///
    /// [`schedule_latency_histogram_num_buckets`]: Self::schedule_latency_histogram_num_buckets
    #[track_caller]
    pub fn schedule_latency_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.latencies(worker).map_or(0, |histogram| histogram.count(bucket))
    }

    /// Returns the sum of the scheduling latencies that are in the histogram of processor `worker`;
    /// zero if they are not counted.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_metrics_schedule_latency_histogram()
    ///     .metrics_schedule_latency_histogram_sample(1)
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn(async {}); // runs when there is a thread in `block_on`
    /// std::thread::sleep(Duration::from_millis(2));
    /// runtime.block_on(task).unwrap();
    /// let sum = runtime.metrics().schedule_latency_histogram_sum(0);
    /// assert!(sum >= Duration::from_micros(1_999)); // stamps are exact to 64 ns
    /// ```
    #[track_caller]
    pub fn schedule_latency_histogram_sum(&self, worker: usize) -> Duration {
        self.latencies(worker).map_or(Duration::ZERO, Histogram::sum)
    }

    #[track_caller]
    pub(super) fn poll_times(&self, worker: usize) -> Option<&Histogram> {
        self.scheduler.processors[worker].histograms.polls.as_ref().map(|polls| &polls.histogram)
    }

    #[track_caller]
    pub(super) fn latencies(&self, worker: usize) -> Option<&Histogram> {
        self.scheduler.processors[worker].histograms.latencies.as_deref()
    }
}
