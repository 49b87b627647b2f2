//! A whole runtime under shuttle: real machines and tasks, in random order.
//!
//! There is no clock, so a thread that looks all the time stands in for sysmon. It considers a poll
//! that it sees a second time as too long, and tosses a coin whether the poll blocks or computes. A
//! schedule in which no thread can go on is a failure, and so is a future that is not dropped.
//!
//! Seen to fail without the count of polls in `take`, without the look in `park`, when
//! `submit_global` wakes no machine, when the global queue or the registry is not closed, and when
//! a machine that leaves does not drain its processor. Interleavings that must hit a window of a
//! few instructions hardly occur here; they are left to the loom models.

use std::ops::Deref;
use std::time::{Duration, Instant};

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Runner, thread};

use crate::runtime::{Builder, Handle, Runtime};
use crate::sched::shutdown;
use crate::sched::submit::threads::start_first_machine;
use crate::sched::sysmon::{self, Memory};
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicUsize};

/// Runs `body` in a few thousand random schedules, and in as many with few, well-placed
/// preemptions. `GMP_SHUTTLE_SCHEDULES` overrides the number, for a long hunt.
pub(super) fn explore(body: impl Fn() + Copy + Send + Sync + 'static) {
    let schedules = std::env::var("GMP_SHUTTLE_SCHEDULES").map_or(4_000, |count| count.parse().expect("a number"));
    let mut config = shuttle::Config::default();
    config.stack_size = 1 << 18;
    Runner::new(RandomScheduler::new(schedules), config.clone()).run(body);
    Runner::new(PctScheduler::new(5, schedules), config).run(body);
}

/// A multi-thread runtime with that many processors, two permits for closures and one for hogs.
/// Spare machines end at once, or never. Machines run the closures, or other threads do.
pub(super) fn runtime(processors: usize) -> Stage {
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(processors)
        .max_blocking_threads(2)
        .max_hogs(1)
        .closures_in_place(thread_rng().gen_bool(0.5))
        .enable_all();
    if thread_rng().gen_bool(0.5) {
        builder.thread_keep_alive(Duration::ZERO);
    }
    let config = builder.sysmon(false).config(false).unwrap();
    // The same on every computer.
    let scheduler = Scheduler::new(config);
    start_first_machine(&scheduler).unwrap();
    Stage::of(Runtime::of(Handle::of(SchedulerRef::new(scheduler))))
}

/// A runtime that is leaked if the model fails: its drop would wait for threads that shuttle does
/// not run any more.
pub(super) struct Stage(Option<Runtime>);

impl Stage {
    pub(super) fn of(runtime: Runtime) -> Stage {
        Stage(Some(runtime))
    }
}

impl Deref for Stage {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("taken by `shut_down` only")
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        std::mem::forget(self.0.take());
    }
}

/// Shuts down, and waits for all threads.
pub(super) fn shut_down(mut runtime: Stage) {
    let scheduler = runtime.handle().scheduler().clone();
    shutdown::begin(&scheduler);
    while !scheduler.all_machines.awaited().is_empty() {
        thread::yield_now();
    }
    drop(runtime.0.take());
    assert_eq!(scheduler.live_tasks(), 0, "a future was not dropped");
    assert_eq!(scheduler.registry.len(), 0, "a task is listed that is gone");
}

/// A thread that looks as sysmon does, until this is dropped.
pub(super) struct Monitor {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Monitor {
    pub(super) fn of(runtime: &Runtime) -> Monitor {
        let scheduler = runtime.handle().scheduler().clone();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let (mut memory, mut now) = (Memory::default(), Instant::now());
            while !stopped.load(Relaxed) {
                sysmon::look(&scheduler, &mut memory, now);
                now += Duration::from_secs(1);
                thread::yield_now();
            }
        });
        Monitor { stop, thread: Some(thread) }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// Counts futures that are alive.
#[derive(Clone, Default)]
pub(super) struct Alive(Arc<AtomicUsize>);

/// A part of a future that counts it.
pub(super) struct Counted(Alive);

impl Alive {
    pub(super) fn count(&self) -> Counted {
        self.0.fetch_add(1, Relaxed);
        Counted(self.clone())
    }

    pub(super) fn get(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}
