//! `Builder`: the settings of a runtime. Each is checked when it is set.

mod build;
mod drivers;
mod faults;
mod histograms;
mod renamed;
mod scheduling;
mod stuck_polls;
mod tasks;
mod threads;
#[cfg(tokio_unstable)]
mod tokio;

use std::fmt;
use std::time::Duration;

use crate::context::RngSeed;
use crate::lost::Leaks;
use crate::metrics::HistogramSettings;
use crate::sched::config::{Flavor, IoEvents};
use crate::sched::state::threads::{DEFAULT_THREAD_NAME, Hooks};
use crate::seeded;
use crate::sync::Arc;
use crate::task::{TaskHooks, UnhandledPanic};

/// Configures and makes a [`Runtime`](crate::runtime::Runtime).
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
    /// `None`: `GMP_CLOSURES` says.
    closures_in_place: Option<bool>,
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
    deadlock_after: Option<Duration>,
    /// Whether it is the runtime of a `#[gmp_exec::test]`.
    is_test: bool,
    start_paused: bool,
    enable_io: bool,
    enable_time: bool,
    thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    thread_stack_size: Option<usize>,
    thread_keep_alive: Duration,
    hooks: Hooks,
    histograms: HistogramSettings,
    task_hooks: TaskHooks,
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
            closures_in_place: None,
            max_machines: None,
            max_hogs: None,
            global_queue_interval: None,
            event_interval: if is_any_turn_the_roots(flavor) { 1 } else { 61 },
            io_events: IoEvents { per_tick: 1024, per_busy_tick: None },
            blocking_threshold: Duration::from_millis(10),
            sysmon: true,
            watch_current_thread: false,
            leaks: None,
            panic_on_deadlock: None,
            deadlock_after: None,
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
            has_runnext: !seeded::is_on(),
            seed: None,
        }
    }

    /// Sets the name of the runtime; see [`Handle::name`](crate::runtime::Handle::name).
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
}

/// In a seeded run the root future may be polled after each task, but where tokio's order is kept.
fn is_any_turn_the_roots(flavor: Flavor) -> bool {
    seeded::is_on() && (flavor == Flavor::MultiThread || !seeded::keeps_order())
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
