//! What the runtime counts, for people to look at. Counters never steer scheduling.

mod counter;
mod prometheus;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

pub(crate) use counter::Counter;

use crate::sched::SchedulerRef;

/// The counters of one runtime, read at the moment of each call.
///
/// A "worker" is a processor. Counters of events only grow, and survive a processor's change of thread.
///
/// # Examples
///
/// ```
/// let runtime = gmp_exec::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
/// runtime.block_on(async { gmp_exec::spawn(async {}).await.unwrap() });
/// let metrics = runtime.metrics();
/// let polls: u64 = (0..metrics.num_workers()).map(|worker| metrics.worker_poll_count(worker)).sum();
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

    /// Number of processors.
    pub fn num_workers(&self) -> usize {
        self.scheduler.processors.len()
    }

    /// Tasks that were spawned and whose future is not gone yet.
    pub fn num_alive_tasks(&self) -> usize {
        self.scheduler.live_tasks()
    }

    /// Tasks in the global queue.
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler.global.len()
    }

    /// Tasks in the queue of processor `worker`, its `runnext` included.
    ///
    /// # Panics
    ///
    /// This and the other methods with a `worker` panic if `worker` is not below [`num_workers`](Self::num_workers).
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        self.scheduler.processors[worker].depth()
    }

    /// Polls by processor `worker`.
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.polls.get()
    }

    /// How often processor `worker` found nothing to do and was given up. Those of a multi-thread runtime begin so, which
    /// counts.
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        let at_birth = u64::from(!self.scheduler.config.is_current_thread());
        self.scheduler.processors[worker].counters.parks.get() + at_birth
    }

    /// The same, and how often it was needed again: odd while it is given up.
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let is_parked = self.is_parked(worker);
        2 * self.worker_park_count(worker) - u64::from(is_parked)
    }

    fn is_parked(&self, worker: usize) -> bool {
        let (scheduler, counters) = (&self.scheduler, &self.scheduler.processors[worker].counters);
        match scheduler.config.is_current_thread() {
            _ if scheduler.is_shutdown() => false,
            true => counters.parks.get() > 0 && scheduler.idle.has_sleeper(),
            // One that has run nothing yet is at most being looked after.
            false => counters.polls.get() == 0 || scheduler.idle.has_processor(worker),
        }
    }

    /// How long machines held processor `worker`, up to now.
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.scheduler.processors[worker].busy.at(self.scheduler.clock.running_ns())
    }

    /// How often processor `worker` went looking for tasks at the others.
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.steal_attempts.get()
    }

    /// How often it found some.
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.steals.get()
    }

    /// How often the ring of processor `worker` was full and half of it moved to the global queue.
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.overflows.get()
    }

    /// How often processor `worker` was taken from a poll or section whose thread slept in the kernel.
    #[track_caller]
    pub fn worker_taken_from_blocked_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.taken_blocked.get()
    }

    /// How often processor `worker` was taken from a poll that was computing.
    #[track_caller]
    pub fn worker_taken_from_computing_count(&self, worker: usize) -> u64 {
        self.scheduler.processors[worker].counters.taken_computing.get()
    }

    /// Tasks that were queued by threads without a processor of this runtime.
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler.outside.remote_schedules.get()
    }

    /// Threads that run tasks, or may.
    pub fn num_machines(&self) -> usize {
        self.scheduler.idle.snapshot().machines
    }

    /// Those of them that have nothing to do.
    pub fn num_idle_machines(&self) -> usize {
        self.scheduler.idle.snapshot().spares
    }

    /// Processors that have nothing to do.
    pub fn num_idle_workers(&self) -> usize {
        self.scheduler.idle.snapshot().processors
    }

    /// Machines that are looking for work.
    pub fn num_spinning_machines(&self) -> usize {
        self.scheduler.idle.snapshot().spinning
    }

    /// Threads that go on computing without a processor.
    pub fn num_hogs(&self) -> usize {
        self.scheduler.hogs.held()
    }

    /// Blocking closures that are running.
    pub fn num_blocking_threads(&self) -> usize {
        self.scheduler.closures.running()
    }

    /// Blocking closures that wait for a place.
    pub fn blocking_queue_depth(&self) -> usize {
        self.scheduler.closures.waiting()
    }

    /// The longest poll that sysmon has seen; zero if none was longer than the threshold.
    pub fn longest_poll(&self) -> Duration {
        Duration::from_nanos(self.scheduler.outside.longest_poll.get())
    }

    fn totals(&self) -> [(&'static str, u64); 7] {
        let sum = |count: fn(&Self, usize) -> u64| (0..self.num_workers()).map(|worker| count(self, worker)).sum();
        [
            ("polls", sum(Self::worker_poll_count)),
            ("parks", sum(Self::worker_park_count)),
            ("steal_operations", sum(Self::worker_steal_operations)),
            ("steals", sum(Self::worker_steal_count)),
            ("overflows", sum(Self::worker_overflow_count)),
            ("taken_from_blocked", sum(Self::worker_taken_from_blocked_count)),
            ("taken_from_computing", sum(Self::worker_taken_from_computing_count)),
        ]
    }
}

/// One counter a line, `name value`: the totals first, then each processor's.
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
            writeln!(f, "worker_{worker}_steals {}", self.worker_steal_count(worker))?;
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
