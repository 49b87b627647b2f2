//! What `RuntimeMetrics` says of spawning, scheduling and stealing tasks, and of what they wait
//! for.

use std::thread::ThreadId;

use super::RuntimeMetrics;
use crate::netpoll::NetpollCounts;
use crate::task::set_of_local_runtime;

impl RuntimeMetrics {
    /// Returns the number of tasks that were spawned. Blocking closures don't count.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// runtime.block_on(runtime.spawn_blocking(|| {})).unwrap();
    /// assert_eq!(runtime.metrics().spawned_tasks_count(), 1);
    /// ```
    pub fn spawned_tasks_count(&self) -> u64 {
        let local = set_of_local_runtime(&self.scheduler).map_or(0, |set| set.spawned());
        self.scheduler.spawned_tasks() + local as u64
    }

    /// Returns the number of polls in which the task had [used up its budget](crate::task::coop),
    /// so that it had to yield.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::task::coop::consume_budget;
    ///
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let task = runtime.spawn(async {
    ///     for _ in 0..200 {
    ///         consume_budget().await; // a poll has a budget of 128
    ///     }
    /// });
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(runtime.metrics().budget_forced_yield_count(), 1);
    /// ```
    pub fn budget_forced_yield_count(&self) -> u64 {
        self.scheduler.outside.sum(|counters| &counters.forced_yields)
    }

    /// Returns the number of [threads for blocking closures](Self::num_blocking_threads) that have no
    /// closure to run.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.num_idle_blocking_threads(), 0);
    /// runtime.block_on(runtime.spawn_blocking(|| {})).unwrap();
    /// while metrics.num_idle_blocking_threads() == 0 {
    ///     std::thread::yield_now(); // its thread will soon wait for the next closure
    /// }
    /// ```
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.scheduler.closures.pool.idle()
    }

    /// Returns which thread runs the tasks of processor `worker`, or did so last; `None` if none
    /// has yet. A processor moves to another thread when its thread blocks, and after it was idle.
    ///
    /// # Panics
    ///
    /// Panics unless `worker` is less than [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::thread;
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// runtime.block_on(async {});
    /// assert_eq!(runtime.metrics().worker_thread_id(0), Some(thread::current().id()));
    /// ```
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.scheduler.processors[worker].holder()?.std_thread_id()
    }

    /// Returns how many tasks were queued at processor `worker` by the thread that had it: because
    /// a task on it spawned or woke them, or because that thread saw their timer or descriptor.
    ///
    /// # Panics
    ///
    /// This and the other methods with a `worker` panic unless `worker` is less than
    /// [`num_workers`](Self::num_workers).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let task = runtime.spawn(gmp_exec::task::yield_now()); // queued by this thread
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(runtime.metrics().worker_local_schedule_count(0), 1); // by its yield
    /// ```
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.local_schedules.get()
    }

    /// Returns how often processor `worker` became idle without a poll since it had become idle
    /// before. The processors of a multi-thread runtime are idle at first, which counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let metrics = runtime.metrics();
    /// assert!(metrics.worker_noop_count(0) <= metrics.worker_park_count(0));
    /// ```
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        let at_birth = u64::from(!self.scheduler.config.is_current_thread());
        self.scheduler.processors[worker].counters.noops.get() + at_birth
    }

    /// Returns how often processor `worker` searched the other processors for tasks to steal.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     assert!(metrics.worker_steal_attempts(worker) >= metrics.worker_steal_operations(worker));
    /// }
    /// ```
    #[track_caller]
    pub fn worker_steal_attempts(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.steal_attempts.get()
    }

    /// Returns how often processor `worker` stole tasks. Each time it took one or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     assert!(metrics.worker_steal_operations(worker) <= metrics.worker_steal_count(worker));
    /// }
    /// ```
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.steals.get()
    }

    /// Returns how many tasks processor `worker` stole.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // With a single processor there are no others to steal from.
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert_eq!(runtime.metrics().worker_steal_count(0), 0);
    /// ```
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.stolen_tasks.get()
    }

    /// Returns how many descriptors were registered with the runtime's reactor; 0 if it has none
    /// yet.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().io_driver_fd_registered_count(), 0, "no descriptor was used");
    /// ```
    pub fn io_driver_fd_registered_count(&self) -> u64 {
        self.netpoll_counts().registered
    }

    /// Returns how many descriptors were removed from the runtime's reactor.
    ///
    /// # Examples
    ///
    /// ```
    /// let metrics = gmp_exec::runtime::Runtime::new().unwrap().metrics();
    /// let (added, removed) =
    ///     (metrics.io_driver_fd_registered_count(), metrics.io_driver_fd_deregistered_count());
    /// assert_eq!(added - removed, 0, "no descriptor is registered");
    /// ```
    pub fn io_driver_fd_deregistered_count(&self) -> u64 {
        self.netpoll_counts().deregistered
    }

    /// Returns how often the runtime's reactor has seen a descriptor become ready.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// assert_eq!(runtime.metrics().io_driver_ready_count(), 0);
    /// ```
    pub fn io_driver_ready_count(&self) -> u64 {
        self.netpoll_counts().ready
    }

    fn netpoll_counts(&self) -> NetpollCounts {
        self.scheduler.netpoll_gate.netpoll().map(|netpoll| netpoll.counts()).unwrap_or_default()
    }
}
