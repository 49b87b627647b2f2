//! Old names of tokio's, for programs that still use them.

use std::ops::Range;
use std::time::Duration;

use super::RuntimeMetrics;

impl RuntimeMetrics {
    #[deprecated = "renamed to num_alive_tasks"]
    /// The old name of [`num_alive_tasks`](Self::num_alive_tasks).
    ///
    /// # Examples
    ///
    /// ```
    /// # #![allow(deprecated)]
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().active_tasks_count(), 0);
    /// ```
    pub fn active_tasks_count(&self) -> usize {
        self.num_alive_tasks()
    }

    #[deprecated = "renamed to global_queue_depth"]
    #[doc(hidden)]
    pub fn injection_queue_depth(&self) -> usize {
        self.global_queue_depth()
    }

    #[deprecated = "renamed to poll_time_histogram_enabled"]
    #[doc(hidden)]
    pub fn poll_count_histogram_enabled(&self) -> bool {
        self.poll_time_histogram_enabled()
    }

    #[deprecated = "renamed to poll_time_histogram_num_buckets"]
    #[doc(hidden)]
    pub fn poll_count_histogram_num_buckets(&self) -> usize {
        self.poll_time_histogram_num_buckets()
    }

    #[deprecated = "renamed to poll_time_histogram_bucket_range"]
    #[doc(hidden)]
    #[track_caller]
    pub fn poll_count_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        self.poll_time_histogram_bucket_range(bucket)
    }

    #[deprecated = "renamed to poll_time_histogram_bucket_count"]
    #[doc(hidden)]
    #[track_caller]
    pub fn poll_count_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        self.poll_time_histogram_bucket_count(worker, bucket)
    }
}
