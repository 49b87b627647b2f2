//! `Builder`: every setting of a runtime, checked where it is given.

use std::time::Duration;
use std::{fmt, io};

use crate::procs;
use crate::runtime::{Handle, LocalOptions, LocalRuntime, Runtime};
use crate::sched::config::{Config, DEFAULT_THREAD_NAME, Flavor, Hooks, IoEvents, Threads};
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::trace::schedtrace;

/// Processors at most. The word that counts idle ones has room for more; this is what has been tried.
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
    start_paused: bool,
    enable_io: bool,
    enable_time: bool,
    thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    thread_stack_size: Option<usize>,
    thread_keep_alive: Duration,
    hooks: Hooks,
}

impl Builder {
    /// Starts from the defaults for a runtime with several processors.
    pub fn new_multi_thread() -> Builder {
        Builder::new(Flavor::MultiThread)
    }

    /// Starts from the defaults for a runtime that runs its tasks on the thread inside `block_on`.
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
            start_paused: false,
            enable_io: false,
            enable_time: false,
            thread_name: Arc::new(|| DEFAULT_THREAD_NAME.to_owned()),
            thread_stack_size: None,
            thread_keep_alive: Duration::from_secs(10),
            hooks: Hooks::default(),
        }
    }

    /// Sets the number of processors: how many tasks run at a time. From 1 to 1024.
    ///
    /// Default: the environment variable `GMP_MAXPROCS` if it is set, else as many as the process may use, by its
    /// affinity and by the CPU quota of its cgroup and all the parents of that, rounded up. The current-thread flavour
    /// always has one.
    ///
    /// # Panics
    ///
    /// Panics if `count` is out of range.
    #[track_caller]
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        in_range("worker_threads", count, 1, MAX_PROCESSORS);
        self.worker_threads = Some(count);
        self
    }

    /// Sets how many blocking closures may run at a time; more wait in a queue. At least 1; default 512.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        in_range("max_blocking_threads", count, 1, MAX_THREADS);
        self.max_blocking_threads = count;
        self
    }

    /// Sets how many threads the multi-thread runtime may have for running tasks. Default: processors plus
    /// `max_blocking_threads` plus 10 000 (Go's cap) for tasks that block without saying so.
    ///
    /// When the cap is reached, processors stay with their stuck threads until those come back.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
    #[track_caller]
    pub fn max_machines(&mut self, count: usize) -> &mut Self {
        in_range("max_machines", count, 1, MAX_THREADS);
        self.max_machines = Some(count);
        self
    }

    /// Sets how many threads may go on computing after their processor was taken, or without one from the start.
    /// Default: twice the number of processors.
    ///
    /// More of them would only compete for the same cores: the next poll of a task that is known to compute waits until one of
    /// the running ones has ended, and a task that is not known keeps its processor. But not for long: one more is let go on
    /// after a third of a [threshold](Builder::blocking_threshold), another one after five sixths of one, and so on, up to six
    /// thresholds while eight and more are in excess (on many processors these numbers grow with them). So a short poll does
    /// not wait for the end of long ones, and any number of polls that compute for seconds leaves processors for others.
    /// Threads that sleep are not counted.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0 or above 2^20.
    #[track_caller]
    pub fn max_hogs(&mut self, count: usize) -> &mut Self {
        in_range("max_hogs", count, 1, MAX_THREADS);
        self.max_hogs = Some(count);
        self
    }

    /// Sets after how many turns a processor looks into the global queue first. At least 1; default 61 (31 on the
    /// current-thread flavour), as in Go and tokio.
    ///
    /// # Panics
    ///
    /// Panics if `turns` is 0.
    #[track_caller]
    pub fn global_queue_interval(&mut self, turns: u32) -> &mut Self {
        in_range("global_queue_interval", turns as usize, 1, u32::MAX as usize);
        self.global_queue_interval = Some(turns);
        self
    }

    /// Sets after how many turns a processor looks at timers and the network although it has tasks. At least 1;
    /// default 61, as on tokio.
    ///
    /// # Panics
    ///
    /// Panics if `turns` is 0.
    #[track_caller]
    pub fn event_interval(&mut self, turns: u32) -> &mut Self {
        in_range("event_interval", turns as usize, 1, u32::MAX as usize);
        self.event_interval = turns;
        self
    }

    /// Sets how many ready descriptors a look at the network takes at most; the rest waits for the next look. At least 1;
    /// default 1024.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_tick must be non-zero");
        self.io_events.per_tick = count;
        self
    }

    /// Sets the same for looks of a processor that has tasks to run. Default: as for all others.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_busy_tick must be non-zero");
        self.io_events.per_busy_tick = Some(count);
        self
    }

    /// Sets how long a poll may compute while other work waits for its processor. From 100 µs to 1 h; default 10 ms, Go's
    /// time slice. If no processor has had a turn for two fifths of it, and something waits that any of them could do, one of
    /// them is taken then.
    ///
    /// A poll whose thread sleeps in the kernel has no such time: its processor goes as soon as sysmon has seen it, usually
    /// after some ten microseconds. Where the kernel does not say what a thread does (no /proc), it has the threshold.
    ///
    /// sysmon looks when it is called, and otherwise four times per threshold, and at least every 2.5 ms; above 2.5 s it looks a
    /// thousand times per threshold.
    ///
    /// # Panics
    ///
    /// Panics if `threshold` is out of range.
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

    /// Switches the monitor thread on or off; default on. Without it no processor is taken from a stuck poll.
    pub fn sysmon(&mut self, on: bool) -> &mut Self {
        self.sysmon = on;
        self
    }

    /// Enables I/O and timers.
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_io().enable_time()
    }

    /// Enables I/O: reactors may be installed.
    pub fn enable_io(&mut self) -> &mut Self {
        self.enable_io = true;
        self
    }

    /// Enables timers.
    pub fn enable_time(&mut self) -> &mut Self {
        self.enable_time = true;
        self
    }

    /// Starts with a paused clock; see [`time::pause`](crate::time::pause). Only for the current-thread flavour.
    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.start_paused = paused;
        self
    }

    /// Sets the name of the runtime; see [`Handle::name`].
    ///
    /// # Panics
    ///
    /// Panics if the name is empty or blank.
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(!name.trim().is_empty(), "runtime name shouldn't be empty");
        self.name = Some(name);
        self
    }

    /// Sets the name of the runtime's threads; default `gmp-machine`.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Sets a function that names each new thread. A thread for which it panics has the default name.
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.thread_name = Arc::new(name);
        self
    }

    /// Sets the stack size of the runtime's threads, in bytes. Default: the standard library's (2 MiB, or
    /// `RUST_MIN_STACK`).
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.thread_stack_size = Some(bytes);
        self
    }

    /// Sets how long a surplus thread waits for something to do before it ends; default 10 s.
    pub fn thread_keep_alive(&mut self, limit: Duration) -> &mut Self {
        self.thread_keep_alive = limit;
        self
    }

    /// Sets a function that each of the runtime's threads calls first. A panic in it, as in the three below, is reported by
    /// the panic hook and ends nothing.
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_start = Some(Arc::new(f));
        self
    }

    /// Sets a function that each of the runtime's threads calls last.
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_stop = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls before it goes to sleep for lack of work.
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_park = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls after such a sleep.
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_unpark = Some(Arc::new(f));
        self
    }

    /// Makes the runtime.
    ///
    /// # Errors
    ///
    /// Fails if `GMP_MAXPROCS` or `GMP_DEBUG` has a bad value, or if the system has no thread for it.
    ///
    /// # Panics
    ///
    /// Panics if `start_paused` is set for the multi-thread flavour, as on tokio.
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        assert!(
            !self.start_paused || self.flavor == Flavor::CurrentThread,
            "`time::pause()` requires the `current_thread` Tokio runtime. This is the default Runtime used by \
             `#[tokio::test]."
        );
        self.build_with(false)
    }

    /// Makes a runtime on which futures that are not `Send` can be spawned. It stays on this thread.
    ///
    /// # Errors
    ///
    /// See [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// Panics if the builder is one for the multi-thread flavour.
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
        if self.flavor == Flavor::MultiThread {
            scheduler.start_first_machine()?;
        }
        if scheduler.config.sysmon || scheduler.config.schedtrace.is_some() {
            scheduler.start_sysmon()?;
        }
        Ok(runtime)
    }

    pub(crate) fn config(&self, is_local: bool) -> io::Result<Config> {
        let is_multi_thread = self.flavor == Flavor::MultiThread;
        let processors = if is_multi_thread { self.processors()? } else { 1 };
        let machines = processors + self.max_blocking_threads + 10_000;
        Ok(Config {
            flavor: self.flavor,
            name: self.name.clone(),
            is_local,
            processors,
            max_blocking_threads: self.max_blocking_threads,
            // The only machine of the other flavour is the thread inside `block_on`.
            max_machines: if is_multi_thread { self.max_machines.unwrap_or(machines) } else { 0 },
            max_hogs: self.max_hogs.unwrap_or(2 * processors),
            global_queue_interval: self.global_queue_interval.unwrap_or(if is_multi_thread { 61 } else { 31 }),
            event_interval: self.event_interval,
            io_events: self.io_events,
            blocking_threshold: self.blocking_threshold,
            sysmon: self.sysmon && is_multi_thread,
            schedtrace: schedtrace::Settings::from_env()?,
            start_paused: self.start_paused,
            enable_io: self.enable_io,
            enable_time: self.enable_time,
            threads: Threads {
                name: self.thread_name.clone(),
                stack_size: self.thread_stack_size,
                keep_alive: self.thread_keep_alive,
            },
            hooks: self.hooks.clone(),
        })
    }

    fn processors(&self) -> io::Result<usize> {
        match self.worker_threads {
            Some(count) => Ok(count),
            None => procs::default_procs().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error)),
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
