//! The settings that decide how many tasks, threads and closures run, and in which order.

use crate::context::RngSeed;
use crate::runtime::Builder;

/// The most processors that have been tested. The word that counts idle processors has room for
/// more.
const MAX_PROCESSORS: usize = 1024;
const MAX_THREADS: usize = 1 << 20;

/// # Scheduling
impl Builder {
    /// Sets the number of processors, which is how many tasks run at a time. More than 1024 count
    /// as 1024.
    ///
    /// Default: the environment variable `GMP_MAXPROCS` if it is set, else `TOKIO_WORKER_THREADS`, else
    /// the number of CPUs that the process may use: those in its affinity mask, limited by the CPU
    /// quota of its cgroup and the cgroups above it, rounded up. In the last case the runtime follows
    /// when the number of CPUs changes, within about a second while it has work, until
    /// [`set_max_procs`](crate::runtime::Handle::set_max_procs) is called. This needs
    /// [`sysmon`](Self::sysmon). A current-thread runtime always has one processor.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// ```
    #[track_caller]
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "Worker threads cannot be set to 0");
        self.worker_threads = Some(count.min(MAX_PROCESSORS));
        self
    }

    /// Sets how many threads the multi-thread runtime may have for running tasks. Default:
    /// processors plus `max_blocking_threads` plus 10 000 (Go's cap) for tasks that block without
    /// saying so.
    ///
    /// When the limit is reached, a processor stays with its stuck thread until that thread's poll
    /// returns.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::{thread, time::Duration};
    ///
    /// // One processor that is never taken, because there is no second thread that could run it.
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .max_machines(1)
    ///     .build()
    ///     .unwrap();
    /// let task = runtime.spawn(async { thread::sleep(Duration::from_millis(20)) });
    /// runtime.block_on(task).unwrap();
    /// assert_eq!(runtime.metrics().num_machines(), 1);
    /// ```
    #[track_caller]
    pub fn max_machines(&mut self, count: usize) -> &mut Self {
        in_range("max_machines", count, 1, MAX_THREADS);
        self.max_machines = Some(count);
        self
    }

    /// Sets how many threads may go on computing without a processor: because it was taken from
    /// them, or because their task is marked as a hog. Default: twice the number of processors.
    ///
    /// More such threads would only compete for the same cores. At the limit, the next poll of a
    /// task that is marked as a hog waits until one of the running hogs has ended its poll, and the
    /// poll of an unmarked task keeps its processor. If three tasks that were spawned at one place
    /// have computed for too long, new tasks of that place wait before their first poll, too, until
    /// such a poll turns out to be short.
    ///
    /// The limit is exceeded step by step: sysmon allows one thread more after a third of a
    /// [threshold](Builder::blocking_threshold), another one after five sixths, and so on, up to
    /// six thresholds while eight or more are in excess (with many processors these numbers grow).
    /// So short polls do not wait for the end of long ones, and polls that compute for seconds
    /// leave processors for other tasks, however many they are. Threads that sleep are not counted.
    /// A task whose poll first sleeps and then computes is counted from its next poll on.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // At most one poll computes without a processor; another one keeps its own for a while.
    /// let runtime = Builder::new_multi_thread().worker_threads(2).max_hogs(1).build().unwrap();
    /// let sum = runtime.spawn(async { (0..1_000_000_u64).sum::<u64>() });
    /// assert_eq!(runtime.block_on(sum).unwrap(), 499_999_500_000);
    /// ```
    #[track_caller]
    pub fn max_hogs(&mut self, count: usize) -> &mut Self {
        in_range("max_hogs", count, 1, MAX_THREADS);
        self.max_hogs = Some(count);
        self
    }

    /// Sets how many blocking closures may run at a time; further closures wait in a queue. Default
    /// 512. More than 2^20 count as 2^20.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    ///
    /// static RUNNING: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread().max_blocking_threads(2).build().unwrap();
    /// let closures: Vec<_> = (0..6)
    ///     .map(|_| {
    ///         runtime.spawn_blocking(|| {
    ///             let others = RUNNING.fetch_add(1, SeqCst);
    ///             std::thread::yield_now();
    ///             RUNNING.fetch_sub(1, SeqCst);
    ///             others
    ///         })
    ///     })
    ///     .collect();
    /// for closure in closures {
    ///     assert!(runtime.block_on(closure).unwrap() < 2);
    /// }
    /// ```
    #[track_caller]
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "Max blocking threads cannot be set to 0");
        self.max_blocking_threads = count.min(MAX_THREADS);
        self
    }

    /// Sets whether the threads that run tasks also run the closures of
    /// [`spawn_blocking`](crate::task::spawn_blocking). Default: as the environment variable
    /// `GMP_CLOSURES` says, `in-place` or `threads`; if it is not set, no.
    ///
    /// For programs whose closures leave their threads as they were; see
    /// [`spawn_blocking_in_place`](crate::task::spawn_blocking_in_place). Without effect on the
    /// current-thread flavour.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().closures_in_place(true).build().unwrap();
    /// runtime.block_on(runtime.spawn_blocking(|| {})).unwrap();
    /// assert_eq!(runtime.metrics().num_blocking_threads(), 0);
    /// ```
    pub fn closures_in_place(&mut self, yes: bool) -> &mut Self {
        self.closures_in_place = Some(yes);
        self
    }

    /// Sets after how many turns a processor takes a task from the global queue before its own. At
    /// least 1; default 61 (31 on the current-thread flavour), as in Go and tokio.
    ///
    /// # Panics
    ///
    /// Panics if `turns` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // Tasks that other threads spawn wait for at most 8 of a busy processor's turns.
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .global_queue_interval(8)
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async {
    ///     loop {
    ///         gmp_exec::task::yield_now().await; // the processor's own queue is never empty
    ///     }
    /// });
    /// assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn global_queue_interval(&mut self, turns: u32) -> &mut Self {
        in_range("global_queue_interval", turns as usize, 1, u32::MAX as usize);
        self.global_queue_interval = Some(turns);
        self
    }

    /// Sets after how many turns a processor looks at timers and the network although it still has
    /// tasks. At least 1; default 61, as on tokio.
    ///
    /// # Panics
    ///
    /// Panics if `turns` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, task::yield_now, time};
    ///
    /// // A busy processor looks at timers and the network every 10 turns.
    /// let runtime =
    ///     Builder::new_current_thread().enable_time().event_interval(10).build().unwrap();
    /// runtime.block_on(async {
    ///     let sleep = gmp_exec::spawn(time::sleep(time::Duration::from_millis(1)));
    ///     while !sleep.is_finished() {
    ///         yield_now().await;
    ///     }
    /// });
    /// ```
    #[track_caller]
    pub fn event_interval(&mut self, turns: u32) -> &mut Self {
        in_range("event_interval", turns as usize, 1, u32::MAX as usize);
        self.event_interval = turns;
        self
    }

    /// Makes tasks run in the order in which they were queued. Without this, a processor of a
    /// multi-thread runtime runs the task that was woken last before the others, which suits tasks
    /// that pass messages to each other.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, spawn};
    /// use std::sync::mpsc;
    ///
    /// let runtime =
    ///     Builder::new_multi_thread().worker_threads(1).disable_lifo_slot().build().unwrap();
    /// let (sender, order) = mpsc::channel();
    /// runtime.block_on(runtime.spawn(async move {
    ///     let tasks = [1, 2, 3].map(|number| {
    ///         let sender = sender.clone();
    ///         spawn(async move { sender.send(number).unwrap() })
    ///     });
    ///     for task in tasks {
    ///         task.await.unwrap();
    ///     }
    /// })).unwrap();
    /// assert_eq!(order.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn disable_lifo_slot(&mut self) -> &mut Self {
        self.has_runnext = false;
        self
    }

    /// Sets the seed of the random numbers with which the drop-in's `tokio::select!` picks the
    /// branch that is polled first.
    ///
    /// Each thread of the runtime, and each thread inside of `block_on`, draws a seed of its own
    /// when it begins. So the picks are the same in each run if all tasks run on one thread: on the
    /// current-thread flavour, or with one worker whose tasks don't block. Nothing else in the
    /// runtime is random and can be seeded: which processor is searched for tasks to steal first
    /// depends on the moment anyhow.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, RngSeed};
    ///
    /// let seed = RngSeed::from_bytes(b"place your seed here");
    /// let runtime = Builder::new_current_thread().rng_seed(seed).build().unwrap();
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// ```
    pub fn rng_seed(&mut self, seed: RngSeed) -> &mut Self {
        self.seed = Some(seed);
        self
    }
}

#[track_caller]
fn in_range(setting: &str, value: usize, least: usize, most: usize) {
    assert!((least..=most).contains(&value), "{setting} must be from {least} to {most}, not {value}");
}
