//! The number of processors, which may change.

use super::RuntimeMetrics;

impl RuntimeMetrics {
    /// Returns how many tasks may run at a time at present. At most
    /// [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// runtime.handle().set_max_procs(2).unwrap();
    /// assert_eq!(runtime.metrics().max_procs(), 2);
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// ```
    pub fn max_procs(&self) -> usize {
        self.scheduler.idle.active()
    }

    /// Returns how often that number has changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// runtime.handle().set_max_procs(2).unwrap();
    /// runtime.handle().set_max_procs(2).unwrap();
    /// assert_eq!(runtime.metrics().max_procs_changes(), 1);
    /// ```
    pub fn max_procs_changes(&self) -> u64 {
        self.scheduler.resizing.changes.get()
    }

    /// Returns the number of processors that are not used, because the runtime has had more of them
    /// than it may use now.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// runtime.handle().set_max_procs(2).unwrap();
    /// while runtime.metrics().num_retired_workers() < 1 {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn num_retired_workers(&self) -> usize {
        self.scheduler.idle.retired()
    }
}
