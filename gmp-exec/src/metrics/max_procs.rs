//! The number of processors, which may change, and the CPU quota that it follows.

use std::time::Duration;

use super::RuntimeMetrics;
use crate::sys::cgroup;

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
        self.scheduler.resizes.get()
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

    /// Returns in how many periods the kernel has stopped the process because its CPU quota was
    /// used up: `nr_throttled` of the process's cgroup and of all cgroups above it, since they
    /// exist.
    ///
    /// Each call reads a few small files, which takes about 0.1 ms. 0 where there never was a
    /// quota, and on systems without cgroups. A period counts twice if two of the cgroups have used
    /// up their quotas. The number belongs to the process, or to its container, and not to this
    /// runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let metrics = Builder::new_multi_thread().build().unwrap().metrics();
    /// let before = metrics.cpu_throttled_periods();
    /// // ... serve requests ...
    /// if metrics.cpu_throttled_periods() > before {
    ///     println!("the quota is too small for the load");
    /// }
    /// ```
    pub fn cpu_throttled_periods(&self) -> u64 {
        cgroup::throttling().periods
    }

    /// Returns for how long the kernel has stopped the process because its CPU quota was used up,
    /// summed over the CPUs; see [`cpu_throttled_periods`](Self::cpu_throttled_periods).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let metrics = Builder::new_multi_thread().build().unwrap().metrics();
    /// println!("stopped for {:?}", metrics.cpu_throttled_duration());
    /// ```
    pub fn cpu_throttled_duration(&self) -> Duration {
        cgroup::throttling().time
    }
}
