//! From the settings to a runtime.

use std::io;
use std::time::Duration;

use crate::context::SeedSource;
use crate::lost::{self, Leaks, Silence};
use crate::observe::{self, RecorderSettings, schedtrace};
use crate::procs;
use crate::runtime::leaks::{describe_deadlock, describe_silence, tell_circles};
use crate::runtime::{Builder, Handle, LocalOptions, LocalRuntime, Runtime};
use crate::sched::config::{Config, CountCpus, Flavor, Sigquit};
use crate::sched::state::threads::Threads;
use crate::sched::submit::threads::start_first_machine;
use crate::sched::sysmon;
use crate::sched::{Scheduler, SchedulerRef};
use crate::seeded;
use crate::sync::Arc;
use crate::sys::environment;
use crate::sys::time_slice::TimeSlices;
use crate::sys::timer_slack::TimerSlack;
use crate::task::Observed;

/// In a seeded run, unless the program says how many. Enough for each order of three tasks.
const SEEDED_PROCESSORS: usize = 3;

/// When nothing happens for so long in a test, it is called a deadlock.
const LIMIT_OF_TESTS: Duration = Duration::from_secs(60);

/// # Making the runtime
impl Builder {
    /// Makes the runtime.
    ///
    /// # Errors
    ///
    /// Fails if `GMP_MAXPROCS`, `GMP_CLOSURES`, `GMP_DEBUG`, `GMP_BLOCKED`, `GMP_LEAKS`,
    /// `GMP_DEADLOCK_AFTER`, `GMP_TRACE` or `GMP_TIME_SLICES` has an invalid value, or if a thread
    /// can't be started.
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
        seeded::set_dump(crate::dump::last_words);
        seeded::set_place(crate::dump::interrupted);
        let scheduler = Scheduler::new(self.config(is_local)?);
        let Config { debug, leaks, silence, .. } = &scheduler.config;
        if debug.sigquit != Sigquit::Nothing || *leaks != Leaks::Off || silence.is_some() {
            lost::locks::keep();
        }
        let runtime = Runtime::of(Handle::of(SchedulerRef::new(scheduler.clone())));
        if let Some(settings) = &scheduler.config.trace {
            observe::start_recorder(&scheduler, settings.clone())?;
        }
        if self.flavor == Flavor::MultiThread {
            start_first_machine(&scheduler)?;
        }
        if scheduler.config.sysmon || scheduler.config.is_watched || scheduler.config.debug.trace.is_some() {
            sysmon::start(&scheduler)?;
        }
        let traces_sigquit = scheduler.config.trace.as_ref().is_some_and(|settings| settings.on_sigquit);
        let debug = scheduler.config.debug;
        let sigquit = if traces_sigquit { debug.sigquit.max(Sigquit::Tasks) } else { debug.sigquit };
        crate::dump::watch(&scheduler, debug.asks, sigquit)?;
        Ok(runtime)
    }

    pub(crate) fn config(&self, is_local: bool) -> io::Result<Config> {
        let is_multi_thread = self.flavor == Flavor::MultiThread;
        // In a seeded run there is nothing to watch: while one thread goes on, all others look stuck.
        let sysmon = self.sysmon && is_multi_thread && !seeded::is_on();
        let (processors, follow) = if is_multi_thread { self.processors()? } else { (1, None) };
        let leaks = self.effective_leaks()?;
        let watches_deadlocks =
            self.panic_on_deadlock.unwrap_or(leaks == Leaks::Deny || self.is_test && leaks != Leaks::Off);
        let machines = processors + self.max_blocking_threads + 10_000;
        let closures_in_place =
            self.closures_in_place.or(environment::parsed("GMP_CLOSURES", in_place)?).unwrap_or(false);
        let blocked = crate::blocked::Settings::from_env()?;
        let trace = RecorderSettings::from_env()?;
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
            closures_in_place: is_multi_thread && closures_in_place,
            // The only machine of the other flavour is the thread inside `block_on`.
            max_machines: if is_multi_thread { self.max_machines.unwrap_or(machines) } else { 0 },
            max_hogs: self.max_hogs.unwrap_or(2 * processors),
            fits_hogs: self.max_hogs.is_none(),
            global_queue_interval: self.global_queue_interval.unwrap_or(if is_multi_thread { 61 } else { 31 }),
            event_interval: self.event_interval,
            io_events: self.io_events,
            blocking_threshold: self.blocking_threshold,
            sysmon,
            time_slices: if sysmon { TimeSlices::from_env()? } else { TimeSlices::Off },
            timer_slack: if is_multi_thread { TimerSlack::current() } else { TimerSlack::INHERITED },
            debug: schedtrace::Debug::from_env()?,
            blocked,
            trace,
            is_watched: !is_multi_thread && is_watched,
            observed: if watches_deadlocks { Observed::Yes } else { leaks.observed() },
            deadlock: watches_deadlocks.then_some(describe_deadlock),
            silence: self.silence(leaks)?,
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

    fn silence(&self, leaks: Leaks) -> io::Result<Option<Silence>> {
        let of_environment = lost::limit_from_env()?;
        let of_test = (self.is_test && leaks != Leaks::Off).then_some(LIMIT_OF_TESTS);
        let limit = self.deadlock_after.or(of_environment).or(of_test).filter(|limit| !limit.is_zero());
        Ok(limit.map(|limit| Silence { limit, describe: describe_silence, tell_circles }))
    }

    /// The number of processors, and what tells how many there should be later on.
    fn processors(&self) -> io::Result<(usize, Option<CountCpus>)> {
        // A wrong value is refused even if it does not count.
        let of_environment = procs::from_env()?;
        match self.worker_threads.or(of_environment) {
            Some(count) => Ok((count, None)),
            None if seeded::is_on() => Ok((SEEDED_PROCESSORS, None)),
            None => Ok((procs::available(), Some(procs::available))),
        }
    }
}

/// Whether machines run closures, from the value of `GMP_CLOSURES`.
fn in_place(text: &str) -> Result<bool, String> {
    match text {
        "threads" => Ok(false),
        "in-place" => Ok(true),
        _ => Err(format!("GMP_CLOSURES: unknown setting {text:?}; allowed are threads and in-place")),
    }
}
