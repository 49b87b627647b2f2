//! `Builder`: the settings of a runtime. Each is checked when it is set.

use std::time::Duration;
use std::{fmt, io};

use crate::context::{RngSeed, SeedSource};
use crate::metrics::HistogramSettings;
use crate::procs;
use crate::runtime::leaks::describe_deadlock;
use crate::runtime::{Handle, LocalOptions, LocalRuntime, Runtime};
use crate::sched::config::{Config, CountCpus, DEFAULT_THREAD_NAME, Flavor, Hooks, IoEvents, Threads};
use crate::sched::lost::Leaks;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::sys::time_slice;
use crate::task::{Observed, TaskHooks, UnhandledPanic};
use crate::trace::schedtrace;

/// The most processors that have been tested. The word that counts idle processors has room for
/// more.
const MAX_PROCESSORS: usize = 1024;
const MAX_THREADS: usize = 1 << 20;

/// Configures and makes a [`Runtime`].
///
/// # Examples
///
/// ```
/// use gmp_exec::runtime::Builder;
/// use std::time::Duration;
///
/// let runtime = Builder::new_multi_thread()
///     .worker_threads(4)
///     .thread_name("my-machine")
///     .blocking_threshold(Duration::from_millis(5))
///     .enable_all()
///     .build()
///     .unwrap();
/// assert_eq!(runtime.block_on(async { 42 }), 42);
/// ```
pub struct Builder {
    flavor: Flavor,
    name: Option<String>,
    worker_threads: Option<usize>,
    max_blocking_threads: usize,
    max_machines: Option<usize>,
    max_hogs: Option<usize>,
    global_queue_interval: Option<u32>,
    event_interval: u32,
    io_events: IoEvents,
    blocking_threshold: Duration,
    sysmon: bool,
    watch_current_thread: bool,
    /// `None`: `GMP_LEAKS` says.
    leaks: Option<Leaks>,
    panic_on_deadlock: Option<bool>,
    /// Whether it is the runtime of a `#[gmp_exec::test]`.
    is_test: bool,
    start_paused: bool,
    enable_io: bool,
    enable_time: bool,
    thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    thread_stack_size: Option<usize>,
    thread_keep_alive: Duration,
    hooks: Hooks,
    pub(super) histograms: HistogramSettings,
    pub(super) task_hooks: TaskHooks,
    unhandled_panic: UnhandledPanic,
    has_runnext: bool,
    seed: Option<RngSeed>,
}

impl Builder {
    /// Makes a builder with the default settings for a multi-thread runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().build().unwrap();
    /// let here = std::thread::current().id();
    /// let task = runtime.spawn(async { std::thread::current().id() });
    /// assert_ne!(runtime.block_on(task).unwrap(), here);
    /// ```
    pub fn new_multi_thread() -> Builder {
        Builder::new(Flavor::MultiThread)
    }

    /// Makes a builder with the default settings for a current-thread runtime, which runs its tasks
    /// on the thread inside `block_on`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().build().unwrap();
    /// let here = std::thread::current().id();
    /// let task = runtime.spawn(async { std::thread::current().id() });
    /// assert_eq!(runtime.block_on(task).unwrap(), here);
    /// ```
    pub fn new_current_thread() -> Builder {
        Builder::new(Flavor::CurrentThread)
    }

    fn new(flavor: Flavor) -> Builder {
        Builder {
            flavor,
            name: None,
            worker_threads: None,
            max_blocking_threads: 512,
            max_machines: None,
            max_hogs: None,
            global_queue_interval: None,
            event_interval: 61,
            io_events: IoEvents { per_tick: 1024, per_busy_tick: None },
            blocking_threshold: Duration::from_millis(10),
            sysmon: true,
            watch_current_thread: false,
            leaks: None,
            panic_on_deadlock: None,
            is_test: false,
            start_paused: false,
            enable_io: false,
            enable_time: false,
            thread_name: Arc::new(|| DEFAULT_THREAD_NAME.to_owned()),
            thread_stack_size: None,
            thread_keep_alive: Duration::from_secs(10),
            hooks: Hooks::default(),
            histograms: HistogramSettings::default(),
            task_hooks: TaskHooks::default(),
            unhandled_panic: UnhandledPanic::Ignore,
            has_runnext: true,
            seed: None,
        }
    }

    /// Sets the number of processors, which is how many tasks run at a time. From 1 to 1024.
    ///
    /// Default: the environment variable `GMP_MAXPROCS` if it is set, else the number of CPUs that
    /// the process may use: those in its affinity mask, limited by the CPU quota of its cgroup and
    /// the cgroups above it, rounded up. In the last case the runtime follows when the number of
    /// CPUs changes, within about a second while it has work, until
    /// [`set_max_procs`](crate::runtime::Handle::set_max_procs) is called. This needs
    /// [`sysmon`](Self::sysmon). A current-thread runtime always has one processor.
    ///
    /// # Panics
    ///
    /// Panics if `count` is out of range.
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
        in_range("worker_threads", count, 1, MAX_PROCESSORS);
        self.worker_threads = Some(count);
        self
    }

    /// Sets how many blocking closures may run at a time; further closures wait in a queue. At
    /// least 1; default 512.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
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
        in_range("max_blocking_threads", count, 1, MAX_THREADS);
        self.max_blocking_threads = count;
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
    /// leave processors for other tasks, however many they are. Threads that sleep are not counted. A
    /// poll that first sleeps and then computes is counted from then on, beyond the limit if need be.
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

    /// Sets how many ready descriptors one poll of the network reports at most; the next poll
    /// reports the others. At least 1; default 1024.
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
    /// let runtime = Builder::new_current_thread().max_io_events_per_tick(64).build().unwrap();
    /// assert_eq!(runtime.handle().max_io_events(), (64, 64));
    /// ```
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_tick must be non-zero");
        self.io_events.per_tick = count;
        self
    }

    /// Sets the same limit for polls of the network by a processor that has tasks to run. Default:
    /// the value of [`max_io_events_per_tick`](Self::max_io_events_per_tick).
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
    /// let runtime = Builder::new_current_thread().max_io_events_per_busy_tick(16).build().unwrap();
    /// assert_eq!(runtime.handle().max_io_events(), (1024, 16));
    /// ```
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_busy_tick must be non-zero");
        self.io_events.per_busy_tick = Some(count);
        self
    }

    /// Sets how long a poll may compute while other work waits for its processor. From 100 µs to 1
    /// h; default 10 ms, Go's time slice. If no processor has begun a turn for a fifth of the
    /// threshold, and work waits that any of them could do, the scheduler takes one of them already
    /// then.
    ///
    /// The threshold does not apply to a poll whose thread sleeps in the kernel: its processor is
    /// taken as soon as sysmon has seen the thread asleep, usually after some ten microseconds.
    /// Where the kernel does not tell what a thread does (no /proc), the threshold applies to such
    /// polls, too.
    ///
    /// sysmon looks when a machine calls it, and otherwise four times per threshold, but at least
    /// every 2.5 ms. With a threshold above 2.5 s, sysmon looks a thousand times per threshold.
    ///
    /// # Panics
    ///
    /// Panics if `threshold` is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .blocking_threshold(Duration::from_millis(1))
    ///     .build()
    ///     .unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// // Holds the only processor until the next task has run. On tokio, this would never end.
    /// let stuck = runtime.spawn(async move { receiver.recv().unwrap() });
    /// runtime.spawn(async move { sender.send(42).unwrap() });
    /// assert_eq!(runtime.block_on(stuck).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn blocking_threshold(&mut self, threshold: Duration) -> &mut Self {
        let range = Duration::from_micros(100)..=Duration::from_secs(3600);
        assert!(
            range.contains(&threshold),
            "blocking_threshold must be from {:?} to {:?}, not {threshold:?}",
            range.start(),
            range.end()
        );
        self.blocking_threshold = threshold;
        self
    }

    /// Switches the monitor thread on or off; default on. Without the monitor no processor is taken
    /// from a stuck poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // For programs whose tasks never block: one thread less.
    /// let runtime = Builder::new_multi_thread().sysmon(false).build().unwrap();
    /// assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42);
    /// ```
    pub fn sysmon(&mut self, on: bool) -> &mut Self {
        self.sysmon = on;
        self
    }

    /// Lets [`Handle::blocked_report`](super::Handle::blocked_report) find tasks that hold the
    /// thread of a current-thread runtime; default off, and on if `GMP_BLOCKED` asks for output.
    ///
    /// Such a runtime has no sysmon. A thread of its own then watches the thread that drives the
    /// runtime, and reports each poll that lasts for longer than
    /// [`blocking_threshold`](Self::blocking_threshold), of tasks and of the future given to
    /// `block_on`. It looks four times per threshold while the runtime has something to do, and
    /// sleeps otherwise. It only watches: nothing else can run on the thread meanwhile. No effect on
    /// a multi-thread runtime.
    ///
    /// [`task::blocking`](crate::task::blocking) declares nothing here: it only calls its closure on
    /// this flavour, and other tasks wait for the closure.
    ///
    /// A task of a [`LocalSet`](crate::task::LocalSet) or a [`LocalRuntime`](super::LocalRuntime)
    /// that was spawned by `spawn_local` counts as part of the future that runs the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = Builder::new_current_thread().watch_current_thread(true).build().unwrap();
    /// runtime.block_on(async { std::thread::sleep(Duration::from_millis(300)) });
    ///
    /// let start = Instant::now();
    /// while runtime.handle().blocked_report().entries.is_empty() && start.elapsed().as_secs() < 60 {
    ///     std::thread::sleep(Duration::from_millis(1));
    /// }
    /// let report = runtime.handle().blocked_report();
    /// assert!(report.entries[0].is_root);
    /// print!("{report}");
    /// // blocked 1x, 299 ms in all, longest 299 ms: future of block_on at src/main.rs:5, in clock_nanosleep
    /// ```
    pub fn watch_current_thread(&mut self, on: bool) -> &mut Self {
        self.watch_current_thread = on;
        self
    }

    /// Enables I/O and timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    /// assert!(runtime.handle().is_io_enabled());
    /// ```
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_io().enable_time()
    }

    /// Enables I/O: reactors may be installed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_io().build().unwrap();
    /// assert!(runtime.handle().is_io_enabled());
    /// ```
    pub fn enable_io(&mut self) -> &mut Self {
        self.enable_io = true;
        self
    }

    /// Enables timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    /// // Without `enable_time` the sleep would panic.
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(1)).await });
    /// ```
    pub fn enable_time(&mut self) -> &mut Self {
        self.enable_time = true;
        self
    }

    /// Starts the runtime with a paused clock; see [`time::pause`](crate::time::pause). Only for
    /// the current-thread flavour.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    ///
    /// let runtime =
    ///     Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let start = time::Instant::now();
    ///     time::sleep(time::Duration::from_secs(3600)).await; // takes no time
    ///     assert_eq!(start.elapsed(), time::Duration::from_secs(3600));
    /// });
    /// ```
    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.start_paused = paused;
        self
    }

    /// Sets the name of the runtime; see [`Handle::name`].
    ///
    /// # Panics
    ///
    /// Panics if the name is empty or blank.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().name("database").build().unwrap();
    /// assert_eq!(runtime.handle().name(), Some("database"));
    /// ```
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(!name.trim().is_empty(), "runtime name shouldn't be empty");
        self.name = Some(name);
        self
    }

    /// Sets the name of the runtime's threads; default `gmp-machine`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().thread_name("worker").build().unwrap();
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert_eq!(runtime.block_on(name).unwrap().as_deref(), Some("worker"));
    /// ```
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Sets a function that is called for the name of each new thread. If the function panics, the
    /// thread has the default name.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let threads = AtomicUsize::new(0);
    /// let runtime = Builder::new_multi_thread()
    ///     .thread_name_fn(move || format!("worker-{}", threads.fetch_add(1, Ordering::Relaxed)))
    ///     .build()
    ///     .unwrap();
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(runtime.block_on(name).unwrap().unwrap().starts_with("worker-"));
    /// ```
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.thread_name = Arc::new(name);
        self
    }

    /// Sets the stack size of the runtime's threads, in bytes. Default: the standard library's (2
    /// MiB, or `RUST_MIN_STACK`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// fn depth(n: u32) -> u32 {
    ///     let frame = std::hint::black_box([0_u8; 1024]);
    ///     if n == 0 { u32::from(frame[0]) } else { 1 + depth(n - 1) }
    /// }
    ///
    /// let runtime = Builder::new_multi_thread().thread_stack_size(64 << 20).build().unwrap();
    /// let deep = runtime.spawn(async { depth(10_000) });
    /// assert_eq!(runtime.block_on(deep).unwrap(), 10_000);
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.thread_stack_size = Some(bytes);
        self
    }

    /// Sets how long a surplus thread waits for work before it ends; default 10 s.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .thread_keep_alive(Duration::from_millis(10))
    ///     .build()
    ///     .unwrap();
    /// let closures: Vec<_> = (0..4)
    ///     .map(|_| runtime.spawn_blocking(|| std::thread::sleep(Duration::from_millis(5))))
    ///     .collect();
    /// for closure in closures {
    ///     runtime.block_on(closure).unwrap();
    /// }
    /// // The surplus threads end after 10 ms without work.
    /// while runtime.metrics().num_machines() > 1 {
    ///     std::thread::sleep(Duration::from_millis(1));
    /// }
    /// ```
    pub fn thread_keep_alive(&mut self, limit: Duration) -> &mut Self {
        self.thread_keep_alive = limit;
        self
    }

    /// Sets a function that each of the runtime's threads calls when it starts.
    ///
    /// A panic in this function, or in one of the three below, is reported by the panic hook; the
    /// thread goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static STARTED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_start(|| { STARTED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert!(STARTED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_start = Some(Arc::new(f));
        self
    }

    /// Sets a function that each of the runtime's threads calls before it ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static STOPPED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_stop(|| { STOPPED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// drop(runtime);
    /// assert!(STOPPED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_stop = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls before it sleeps for lack of work.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static PARKED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_time()
    ///     .on_thread_park(|| { PARKED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(5)).await });
    /// assert!(PARKED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_park = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls after such a sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static WOKEN: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_time()
    ///     .on_thread_unpark(|| { WOKEN.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(5)).await });
    /// assert!(WOKEN.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_unpark = Some(Arc::new(f));
        self
    }

    /// Sets what the runtime does at its end with tasks that can never run again.
    ///
    /// Such a task waits, and no waker of it is left: nothing can wake it, but it may be aborted. See
    /// [`Handle::lost_tasks`], which finds them at any time unless this is [`Leaks::Off`]. The runtime
    /// looks for them when it is dropped or shut down, before it drops its tasks.
    ///
    /// By default the variable `GMP_LEAKS` (`off`, `warn` or `deny`) says what happens, and without it
    /// nothing does. In a `#[gmp_exec::test]` the default is [`Leaks::Warn`].
    ///
    /// The wakers of the tasks are counted for that: a clone of a waker takes about 10 ns more, and so
    /// does its end.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, Leaks};
    ///
    /// let runtime = Builder::new_current_thread().leaks(Leaks::Warn).build().unwrap();
    /// runtime.block_on(async {
    ///     gmp_exec::spawn(std::future::pending::<()>());
    ///     gmp_exec::task::yield_now().await;
    /// });
    /// drop(runtime); // prints the task
    /// ```
    pub fn leaks(&mut self, leaks: Leaks) -> &mut Self {
        self.leaks = Some(leaks);
        self
    }

    /// Sets whether [`Runtime::block_on`] panics in a deadlock instead of waiting without end.
    ///
    /// That is: no waker is left of the future, nor of any task, as
    /// [`Handle::lost_tasks`] finds it. So the panic is never wrong, but not every deadlock is found: a
    /// task that keeps its own waker alive prevents it. Nor is there a panic if a task ever had an
    /// [`AbortHandle`](crate::task::AbortHandle), by which another thread may end it. Only the
    /// current-thread flavour looks for deadlocks, whenever the thread has nothing to do. It counts the
    /// wakers of the tasks for that; see [`leaks`](Self::leaks).
    ///
    /// By default it does so with [`Leaks::Deny`], and in a `#[gmp_exec::test]` unless leaks are off.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().panic_on_deadlock(true).build().unwrap();
    /// // Nothing can wake the task.
    /// let output = runtime.block_on(async { gmp_exec::spawn(std::future::pending::<()>()).await });
    /// output.unwrap();
    /// ```
    pub fn panic_on_deadlock(&mut self, on: bool) -> &mut Self {
        self.panic_on_deadlock = Some(on);
        self
    }

    /// The runtime is that of a `#[gmp_exec::test]`.
    #[doc(hidden)]
    pub fn for_test(&mut self) -> &mut Self {
        self.is_test = true;
        self
    }

    /// Sets what happens when a task panics. Default: the task's
    /// [`JoinHandle`](crate::task::JoinHandle) returns the panic, and nothing else.
    ///
    /// With [`UnhandledPanic::ShutdownRuntime`], all tasks are dropped, tasks that are spawned later
    /// are dropped at once, and `block_on` panics, now and in later calls. Blocking closures don't
    /// count.
    ///
    /// # Panics
    ///
    /// Panics if this is a builder of a multi-thread runtime and the runtime shall be shut down.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use gmp_exec::runtime::{Builder, UnhandledPanic};
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .unhandled_panic(UnhandledPanic::ShutdownRuntime)
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async { panic!("boom") });
    /// runtime.block_on(std::future::pending::<()>());
    /// ```
    #[track_caller]
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        assert!(
            self.flavor == Flavor::CurrentThread || !behavior.shuts_down(),
            "UnhandledPanic::ShutdownRuntime is only supported in current thread runtime"
        );
        self.unhandled_panic = behavior;
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

    /// Makes the runtime.
    ///
    /// # Errors
    ///
    /// Fails if `GMP_MAXPROCS`, `GMP_DEBUG`, `GMP_BLOCKED`, `GMP_LEAKS`, `GMP_TRACE` or
    /// `GMP_TIME_SLICES` has an
    /// invalid value, or if a thread can't be started.
    ///
    /// # Panics
    ///
    /// Panics if `start_paused` is set for the multi-thread flavour, as on tokio.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_all().build()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # std::io::Result::Ok(())
    /// ```
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        assert!(
            !self.start_paused || self.flavor == Flavor::CurrentThread,
            "`time::pause()` requires the `current_thread` Tokio runtime. This is the default Runtime used by \
             `#[tokio::test]."
        );
        self.build_with(false)
    }

    /// Makes a runtime whose tasks needn't be `Send`. The runtime stays on this thread.
    ///
    /// # Errors
    ///
    /// See [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// Panics if the builder is for the multi-thread flavour.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::{Builder, LocalOptions};
    /// let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).unwrap();
    /// let shared = std::rc::Rc::new(5);
    /// let task = runtime.spawn_local(async move { *shared });
    /// assert_eq!(runtime.block_on(task).unwrap(), 5);
    /// ```
    #[track_caller]
    pub fn build_local(&mut self, _: LocalOptions) -> io::Result<LocalRuntime> {
        assert!(self.flavor == Flavor::CurrentThread, "Only current_thread is supported when building a local runtime");
        Ok(LocalRuntime::of(self.build_with(true)?))
    }

    fn build_with(&self, is_local: bool) -> io::Result<Runtime> {
        let scheduler = Scheduler::new(self.config(is_local)?);
        let runtime = Runtime::of(Handle::of(SchedulerRef::new(scheduler.clone())));
        if let Some(settings) = &scheduler.config.trace {
            crate::trace::start(&scheduler, settings.clone())?;
        }
        if self.flavor == Flavor::MultiThread {
            scheduler.start_first_machine()?;
        }
        if scheduler.config.sysmon || scheduler.config.debug.trace.is_some() {
            scheduler.start_sysmon()?;
        }
        let traces_sigquit = scheduler.config.trace.as_ref().is_some_and(|settings| settings.on_sigquit);
        if scheduler.config.debug.sigquit || traces_sigquit {
            crate::dump::watch(&scheduler)?;
        }
        Ok(runtime)
    }

    pub(crate) fn config(&self, is_local: bool) -> io::Result<Config> {
        let is_multi_thread = self.flavor == Flavor::MultiThread;
        let (processors, follow) = if is_multi_thread { self.processors()? } else { (1, None) };
        let leaks = self.effective_leaks()?;
        let watches_deadlocks =
            self.panic_on_deadlock.unwrap_or(leaks == Leaks::Deny || self.is_test && leaks != Leaks::Off);
        let machines = processors + self.max_blocking_threads + 10_000;
        let blocked = crate::blocked::Settings::from_env()?;
        let trace = crate::trace::Settings::from_env()?;
        let is_watched = self.watch_current_thread
            || blocked.is_any_on()
            || trace.as_ref().is_some_and(|trace| trace.on_take.is_some());
        Ok(Config {
            flavor: self.flavor,
            name: self.name.clone(),
            is_local,
            processors,
            follow,
            max_blocking_threads: self.max_blocking_threads,
            // The only machine of the other flavour is the thread inside `block_on`.
            max_machines: if is_multi_thread { self.max_machines.unwrap_or(machines) } else { 0 },
            max_hogs: self.max_hogs.unwrap_or(2 * processors),
            fits_hogs: self.max_hogs.is_none(),
            global_queue_interval: self.global_queue_interval.unwrap_or(if is_multi_thread { 61 } else { 31 }),
            event_interval: self.event_interval,
            io_events: self.io_events,
            blocking_threshold: self.blocking_threshold,
            sysmon: self.sysmon && is_multi_thread,
            time_slices: self.sysmon && is_multi_thread && time_slice::is_wanted()?,
            debug: schedtrace::Debug::from_env()?,
            blocked,
            trace,
            is_watched: !is_multi_thread && is_watched,
            observed: if watches_deadlocks { Observed::Yes } else { leaks.observed() },
            deadlock: watches_deadlocks.then_some(describe_deadlock),
            leaks,
            start_paused: self.start_paused,
            enable_io: self.enable_io,
            enable_time: self.enable_time,
            threads: Threads {
                name: self.thread_name.clone(),
                stack_size: self.thread_stack_size,
                keep_alive: self.thread_keep_alive,
            },
            hooks: self.hooks.clone(),
            histograms: self.histograms.clone(),
            task_hooks: self.task_hooks.are_any().then(|| Arc::new(self.task_hooks.clone())),
            unhandled_panic: self.unhandled_panic.clone(),
            has_runnext: self.has_runnext,
            seeds: self.seed.as_ref().map(SeedSource::new),
        })
    }

    fn effective_leaks(&self) -> io::Result<Leaks> {
        let of_environment = Leaks::from_env()?;
        Ok(self.leaks.or(of_environment).unwrap_or(if self.is_test { Leaks::Warn } else { Leaks::Off }))
    }

    /// The number of processors, and what tells how many there should be later on.
    fn processors(&self) -> io::Result<(usize, Option<CountCpus>)> {
        if let Some(count) = self.worker_threads {
            return Ok((count, None));
        }
        match procs::from_env().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))? {
            Some(count) => Ok((count, None)),
            None => Ok((procs::available(), Some(procs::available))),
        }
    }
}

#[track_caller]
fn in_range(setting: &str, value: usize, least: usize, most: usize) {
    assert!((least..=most).contains(&value), "{setting} must be from {least} to {most}, not {value}");
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("flavor", &self.flavor)
            .field("worker_threads", &self.worker_threads)
            .field("max_blocking_threads", &self.max_blocking_threads)
            .field("blocking_threshold", &self.blocking_threshold)
            .field("sysmon", &self.sysmon)
            .finish_non_exhaustive()
    }
}
