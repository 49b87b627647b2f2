//! The runtime's counters, for users to observe. No scheduling decision depends on a counter.

mod counter;
mod histogram;
mod histograms;
mod max_procs;
mod of_histograms;
mod of_tasks;
#[cfg(feature = "insight")]
mod prometheus;
mod renamed;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

pub(crate) use counter::Counter;
pub use histogram::{
    HistogramConfiguration, HistogramScale, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};
pub(crate) use histograms::{HistogramSettings, Histograms, Measuring, Scaled};

use crate::sched::SchedulerRef;
use crate::task::set_of_local_runtime;

/// The counters of one runtime, read at the moment of each call.
///
/// A "worker" is a processor. Counters of events only grow. A processor keeps its counters when it
/// moves to another thread.
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::Builder;
///
/// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// runtime.block_on(async { gmp_exec::spawn(async {}).await.unwrap() });
/// let metrics = runtime.metrics();
/// let workers = 0..metrics.num_workers();
/// let polls: u64 = workers.map(|worker| metrics.worker_poll_count(worker)).sum();
/// assert_eq!(polls, 1);
/// ```
#[derive(Clone)]
pub struct RuntimeMetrics {
    scheduler: SchedulerRef,
}

impl UnwindSafe for RuntimeMetrics {}
impl RefUnwindSafe for RuntimeMetrics {}

impl RuntimeMetrics {
    pub(crate) fn of(scheduler: SchedulerRef) -> RuntimeMetrics {
        RuntimeMetrics { scheduler }
    }

    /// Returns the number of processors, which is how many numbers of workers there are: from 0 to
    /// one less. After [`set_max_procs`] it is the highest number so far, so that the counters of a
    /// processor that is not used any more stay; see [`max_procs`](Self::max_procs).
    ///
    /// [`set_max_procs`]: crate::runtime::Handle::set_max_procs
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// ```
    pub fn num_workers(&self) -> usize {
        self.scheduler.processors.len()
    }

    /// Returns the number of tasks whose future has not been dropped yet.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let endless = runtime.spawn(std::future::pending::<()>());
    /// assert_eq!(runtime.metrics().num_alive_tasks(), 1);
    /// endless.abort();
    /// assert!(runtime.block_on(endless).unwrap_err().is_cancelled());
    /// assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    /// ```
    pub fn num_alive_tasks(&self) -> usize {
        self.scheduler.live_tasks() + set_of_local_runtime(&self.scheduler).map_or(0, |set| set.len())
    }

    /// Returns the number of tasks in the global queue.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // No thread runs the tasks of this runtime yet.
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// let task = runtime.spawn(async {});
    /// assert_eq!(runtime.metrics().global_queue_depth(), 1);
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(runtime.metrics().global_queue_depth(), 0);
    /// ```
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler.global.len()
    }

    /// Returns the number of tasks in the local queue of processor `worker`, including its
    /// `runnext`.
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
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// runtime.block_on(async {
    ///     let metrics = gmp_exec::runtime::Handle::current().metrics();
    ///     let task = gmp_exec::spawn(async {});
    ///     assert_eq!(metrics.worker_local_queue_depth(0), 1);
    ///     task.await.unwrap();
    ///     assert_eq!(metrics.worker_local_queue_depth(0), 0);
    /// });
    /// ```
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        self.scheduler.processors[worker].depth()
    }

    /// Returns how many polls processor `worker` has run, with those of machines that had handed it
    /// off just before. Blocking closures don't count.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// runtime.block_on(runtime.spawn(gmp_exec::task::yield_now())).unwrap();
    /// assert_eq!(runtime.metrics().worker_poll_count(0), 2); // before and after the yield
    /// ```
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        let counters = &self.scheduler.processors[worker].counters;
        counters.polls.get() + counters.polls_without.get()
    }

    /// Returns how often processor `worker` became idle. The processors of a multi-thread runtime
    /// are idle at first, which counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let metrics = runtime.metrics();
    /// assert!(metrics.worker_park_count(0) >= 1);
    /// ```
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        let at_birth = u64::from(!self.scheduler.config.is_current_thread());
        self.scheduler.processors[worker].counters.parks.get() + at_birth
    }

    /// Returns how often processor `worker` became idle or left the idle state. The number is odd
    /// while the processor is idle.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let metrics = runtime.metrics();
    /// let task = runtime.spawn(async move {
    ///     assert_eq!(metrics.worker_park_unpark_count(0) % 2, 0, "the processor runs this task");
    /// });
    /// runtime.block_on(task).unwrap();
    /// ```
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let is_parked = self.is_parked(worker);
        2 * self.worker_park_count(worker) - u64::from(is_parked)
    }

    fn is_parked(&self, worker: usize) -> bool {
        let (scheduler, counters) = (&self.scheduler, &self.scheduler.processors[worker].counters);
        match scheduler.config.is_current_thread() {
            _ if scheduler.is_shutdown() => false,
            true => counters.parks.get() > 0 && scheduler.idle.counts().has_sleeper(),
            // A processor that has run no task counts as idle, even if a machine holds it at the
            // moment.
            false => counters.polls.get() == 0 || scheduler.idle.has_processor(worker),
        }
    }

    /// Returns how long machines have held processor `worker`, up to now. On a current-thread runtime
    /// the first poll of each future given to `block_on` does not count.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let task = runtime.spawn(async {
    ///     let start = Instant::now();
    ///     while start.elapsed() < Duration::from_millis(2) {}
    /// });
    /// runtime.block_on(task).unwrap();
    /// assert!(runtime.metrics().worker_total_busy_duration(0) >= Duration::from_millis(2));
    /// ```
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.scheduler.processors[worker].busy.at(self.scheduler.clock.running_ns())
    }

    /// Returns how often the local queue of processor `worker` was full, so that half of it moved
    /// to the global queue.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let spawner = runtime.spawn(async {
    ///     for _ in 0..1_000 {
    ///         gmp_exec::spawn(async {}); // the local queue has room for 256 tasks
    ///     }
    /// });
    /// runtime.block_on(spawner).unwrap();
    /// assert!(runtime.metrics().worker_overflow_count(0) > 0);
    /// ```
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.overflows.get()
    }

    /// Returns how often processor `worker` was taken from a poll or blocking section whose thread
    /// slept in the kernel.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::mpsc;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let (sender, receiver) = mpsc::channel();
    /// let blocked = runtime.spawn(async move { receiver.recv().unwrap() });
    /// runtime.spawn(async move { sender.send(()).unwrap() }); // needs the same processor
    /// runtime.block_on(blocked).unwrap();
    /// assert!(runtime.metrics().worker_taken_from_blocked_count(0) > 0);
    /// ```
    #[track_caller]
    pub fn worker_taken_from_blocked_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.taken_blocked.get()
    }

    /// Returns how often processor `worker` was taken from a poll that was computing.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let has_run = Arc::new(AtomicBool::new(false));
    /// let seen = has_run.clone();
    /// let computing = runtime.spawn(async move {
    ///     while !seen.load(Ordering::Relaxed) {
    ///         std::hint::spin_loop();
    ///     }
    /// });
    /// // Needs the same processor.
    /// runtime.spawn(async move { has_run.store(true, Ordering::Relaxed) });
    /// runtime.block_on(computing).unwrap();
    /// let metrics = runtime.metrics();
    /// // On a loaded system sysmon may take the thread for a sleeping one.
    /// let blocked = metrics.worker_taken_from_blocked_count(0);
    /// assert!(metrics.worker_taken_from_computing_count(0) + blocked > 0);
    /// ```
    #[track_caller]
    pub fn worker_taken_from_computing_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.taken_computing.get()
    }

    /// Returns how many tasks were queued by threads without a processor of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap(); // this thread holds no processor
    /// assert!(runtime.metrics().remote_schedule_count() >= 1);
    /// ```
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler.outside.sum(|counters| &counters.remote_schedules)
    }

    /// Returns the number of machines: threads that run tasks, or wait to run some.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert!(runtime.metrics().num_machines() >= 1);
    /// ```
    pub fn num_machines(&self) -> usize {
        self.scheduler.idle.snapshot().machines
    }

    /// Returns the number of machines that have nothing to do.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let metrics = runtime.metrics();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert!(metrics.num_idle_machines() <= metrics.num_machines());
    /// ```
    pub fn num_idle_machines(&self) -> usize {
        self.scheduler.idle.snapshot().spares
    }

    /// Returns the number of processors that have nothing to do.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// while runtime.metrics().num_idle_workers() < 2 {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn num_idle_workers(&self) -> usize {
        self.scheduler.idle.snapshot().processors
    }

    /// Returns the number of machines that are searching for work.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// // Searching ends when there is nothing to find.
    /// while runtime.metrics().num_spinning_machines() > 0 {
    ///     std::thread::yield_now();
    /// }
    /// ```
    pub fn num_spinning_machines(&self) -> usize {
        self.scheduler.idle.snapshot().spinning
    }

    /// Returns the number of threads that compute without a processor.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert_eq!(runtime.metrics().num_hogs(), 0, "a short poll is no hog");
    /// ```
    pub fn num_hogs(&self) -> usize {
        self.scheduler.hogs.held()
    }

    /// Returns the number of threads for blocking closures, with and without a closure.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// let ((started, starts), (end, ends)) = (mpsc::channel(), mpsc::channel::<()>());
    /// let closure = runtime.spawn_blocking(move || {
    ///     started.send(()).unwrap();
    ///     let _ = ends.recv();
    /// });
    /// starts.recv().unwrap();
    /// assert_eq!(runtime.metrics().num_blocking_threads(), 1);
    /// drop(end);
    /// runtime.block_on(closure).unwrap();
    /// ```
    pub fn num_blocking_threads(&self) -> usize {
        self.scheduler.closures.pool.threads()
    }

    /// Returns the number of blocking closures that wait for a permit to run, or for a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::mpsc;
    ///
    /// let runtime = Builder::new_multi_thread().max_blocking_threads(1).build().unwrap();
    /// let ((started, starts), (end, ends)) = (mpsc::channel(), mpsc::channel::<()>());
    /// runtime.spawn_blocking(move || {
    ///     started.send(()).unwrap();
    ///     let _ = ends.recv();
    /// });
    /// starts.recv().unwrap();
    /// let waiting = runtime.spawn_blocking(|| 42);
    /// assert_eq!(runtime.metrics().blocking_queue_depth(), 1);
    /// drop(end);
    /// assert_eq!(runtime.block_on(waiting).unwrap(), 42);
    /// ```
    pub fn blocking_queue_depth(&self) -> usize {
        self.scheduler.closures.waiting()
    }

    /// Returns the duration of the longest poll that sysmon has seen; zero if no poll was longer
    /// than the [threshold](crate::runtime::Builder::blocking_threshold).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    /// println!("the longest poll took {:?}", runtime.metrics().longest_poll());
    /// assert!(runtime.metrics().longest_poll().is_zero(), "there was none yet");
    /// ```
    pub fn longest_poll(&self) -> Duration {
        Duration::from_nanos(self.scheduler.longest_poll.get())
    }

    fn totals(&self) -> [(&'static str, u64); 8] {
        let sum = |count: fn(&Self, usize) -> u64| (0..self.num_workers()).map(|worker| count(self, worker)).sum();
        [
            ("polls", sum(Self::worker_poll_count)),
            ("parks", sum(Self::worker_park_count)),
            ("steal_attempts", sum(Self::worker_steal_attempts)),
            ("steals", sum(Self::worker_steal_operations)),
            ("stolen_tasks", sum(Self::worker_steal_count)),
            ("overflows", sum(Self::worker_overflow_count)),
            ("taken_from_blocked", sum(Self::worker_taken_from_blocked_count)),
            ("taken_from_computing", sum(Self::worker_taken_from_computing_count)),
        ]
    }
}

/// Writes one counter per line, `name value`: the totals first, then the counters of each
/// processor.
impl fmt::Display for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, total) in self.totals() {
            writeln!(f, "{name} {total}")?;
        }
        writeln!(f, "workers {}", self.num_workers())?;
        writeln!(f, "idle_workers {}", self.num_idle_workers())?;
        writeln!(f, "machines {}", self.num_machines())?;
        writeln!(f, "idle_machines {}", self.num_idle_machines())?;
        writeln!(f, "spinning_machines {}", self.num_spinning_machines())?;
        writeln!(f, "hogs {}", self.num_hogs())?;
        writeln!(f, "blocking_threads {}", self.num_blocking_threads())?;
        writeln!(f, "blocking_queue {}", self.blocking_queue_depth())?;
        writeln!(f, "alive_tasks {}", self.num_alive_tasks())?;
        writeln!(f, "global_queue {}", self.global_queue_depth())?;
        writeln!(f, "remote_schedules {}", self.remote_schedule_count())?;
        writeln!(f, "longest_poll_ms {}", self.longest_poll().as_millis())?;
        for worker in 0..self.num_workers() {
            writeln!(f, "worker_{worker}_local_queue {}", self.worker_local_queue_depth(worker))?;
            writeln!(f, "worker_{worker}_polls {}", self.worker_poll_count(worker))?;
            writeln!(f, "worker_{worker}_parks {}", self.worker_park_count(worker))?;
            writeln!(f, "worker_{worker}_steals {}", self.worker_steal_operations(worker))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("RuntimeMetrics");
        for (name, total) in self.totals() {
            debug.field(name, &total);
        }
        debug.finish_non_exhaustive()
    }
}
