//! The settings of a runtime, fixed once it is built.

use std::time::Duration;

use crate::context::SeedSource;
use crate::lost::{Leaks, Lost, Silence};
use crate::metrics::HistogramSettings;
use crate::sched::Scheduler;
use crate::sched::state::threads::{Hooks, Threads};
use crate::sync::Arc;
use crate::sys::time_slice::TimeSlices;
use crate::sys::timer_slack::TimerSlack;
use crate::task::{Observed, TaskHooks, UnhandledPanic};

pub(crate) struct Config {
    pub(crate) flavor: Flavor,
    pub(crate) name: Option<String>,
    /// Whether this is the runtime of a `LocalRuntime`, whose thread alone may spawn local tasks.
    pub(crate) is_local: bool,
    pub(crate) processors: usize,
    /// Tells how many processors there should be, if neither the program nor the user has set a
    /// number.
    pub(crate) follow: Option<CountCpus>,
    pub(crate) max_blocking_threads: usize,
    /// Whether machines run the closures of `spawn_blocking`.
    pub(crate) closures_in_place: bool,
    pub(crate) max_machines: usize,
    pub(crate) max_hogs: usize,
    /// Whether `max_hogs` changes with the number of processors.
    pub(crate) fits_hogs: bool,
    pub(crate) global_queue_interval: u32,
    pub(crate) event_interval: u32,
    pub(crate) io_events: IoEvents,
    pub(crate) blocking_threshold: Duration,
    pub(crate) sysmon: bool,
    pub(crate) time_slices: TimeSlices,
    /// Of the thread that builds the runtime, and so of those of the runtime. On the current-thread
    /// flavour, users' threads start the others and sleep themselves, with slacks of their own.
    pub(crate) timer_slack: TimerSlack,
    /// The scheduler trace, and whether SIGQUIT prints the tasks, from `GMP_DEBUG`.
    pub(crate) debug: crate::observe::schedtrace::Debug,
    /// What to print about tasks that hold their threads, from `GMP_BLOCKED`.
    pub(crate) blocked: crate::blocked::Settings,
    /// Where to write what is recorded, from `GMP_TRACE`.
    pub(crate) trace: Option<crate::observe::RecorderSettings>,
    /// Whether sysmon watches the thread of a current-thread runtime, and takes nothing from it.
    pub(crate) is_watched: bool,
    /// Whether the wakers of tasks are counted.
    pub(crate) observed: Observed,
    /// If set, a deadlocked `block_on` panics with this text (current-thread flavour). `None`: the
    /// thread keeps sleeping.
    pub(crate) deadlock: Option<fn(&Scheduler, Vec<Lost>) -> String>,
    /// What to do if nothing happens for long. `None`: `block_on` keeps waiting.
    pub(crate) silence: Option<Silence>,
    /// What to do with lost tasks at the end.
    pub(crate) leaks: Leaks,
    pub(crate) start_paused: bool,
    pub(crate) enable_io: bool,
    pub(crate) enable_time: bool,
    pub(crate) threads: Threads,
    pub(crate) hooks: Hooks,
    pub(crate) histograms: HistogramSettings,
    /// Hooks at the events of tasks, if there are any.
    pub(crate) task_hooks: Option<Arc<TaskHooks>>,
    pub(crate) unhandled_panic: UnhandledPanic,
    /// Whether the task that was woken last runs next, ahead of the queue.
    pub(crate) has_runnext: bool,
    /// Where the seeds of threads come from, if the runtime has a seed.
    pub(crate) seeds: Option<SeedSource>,
}

/// How many ready descriptors a reactor may take at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IoEvents {
    pub(crate) per_tick: usize,
    /// While there are tasks to run; `None`: the same.
    pub(crate) per_busy_tick: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavor {
    CurrentThread,
    MultiThread,
}

impl Config {
    #[inline]
    pub(crate) fn is_current_thread(&self) -> bool {
        self.flavor == Flavor::CurrentThread
    }
}

/// Tells how many CPUs the process may use.
pub(crate) type CountCpus = fn() -> usize;

/// What SIGQUIT prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sigquit {
    /// The signal ends the process.
    Nothing,
    /// All tasks.
    Tasks,
    /// All tasks, with the lines at which they wait, for which they are polled once more.
    Lines,
}
