//! `spawn_blocking`: how many closures may run at a time, and who runs them.
//!
//! A blocking closure is a task whose body is a blocking section. The machine that comes across it runs it where it is,
//! and its processor is taken if the closure lasts: a short one costs a queue operation, not two thread switches. At
//! most `max_blocking_threads` run at a time; the others wait here, in order, and each closure that ends hands its place to the
//! first. Once a closure was long, so probably are the next ones, and each gives the processor on before it begins.
//!
//! On the current-thread flavour the only processor is never taken, so closures go to machines that have none.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::admission::{Admission, Admitted};
use super::anchor::Anchor;
use super::last_poll::Outside;
use super::machine::{Local, Machine};
use super::ownership::Region;
use super::scheduler::Scheduler;
use super::{handoff, run};
use crate::runtime::context;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, fence};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};
use crate::task::{Runnable, cancel, drop_now};

#[derive(Debug)]
pub(crate) struct Closures {
    most: usize,
    /// Of the multi-thread flavour.
    pub(super) places: Admission,
    pub(super) length: Length,
    pool: Pool,
}

/// A closure that is shorter than this is better run where it is than given a thread of its own: about two changes of threads.
const SHORT: Duration = Duration::from_micros(50);
/// So many short closures in a row end the expectation that the next ones are long.
const SHORT_CLOSURES: u8 = 8;

/// How long the next closure will probably be: a program that runs one long closure runs more. Only whether a processor is
/// given on early depends on it, so machines write it without regard to each other.
#[derive(Debug)]
pub(super) struct Length {
    /// How many short closures are still missing; 0: the next one is expected to be short.
    missing: AtomicU8,
}

impl Length {
    fn is_long(&self) -> bool {
        self.missing.load(Relaxed) > 0
    }

    pub(super) fn note(&self, was_long: bool) {
        let missing = self.missing.load(Relaxed);
        self.missing.store(if was_long { SHORT_CLOSURES } else { missing.saturating_sub(1) }, Relaxed);
    }
}

/// Threads that run closures only.
#[derive(Debug)]
struct Pool {
    queue: Mutex<PoolQueue>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct PoolQueue {
    tasks: VecDeque<Runnable>,
    /// Closures that run. Counted in the same critical section in which they leave `tasks`, so that a paused clock never
    /// misses one in between.
    running: usize,
    threads: usize,
    idle: usize,
    /// Threads that were notified and have not looked yet.
    called: usize,
    closed: bool,
}

impl Closures {
    pub(crate) fn new(most: usize) -> Closures {
        Closures {
            most,
            places: Admission::new(most),
            length: Length { missing: AtomicU8::new(0) },
            pool: Pool { queue: Mutex::default(), wake: Condvar::new() },
        }
    }

    /// Closures that are running. None of them can be aborted.
    pub(crate) fn running(&self) -> usize {
        self.places.running() + self.pool.lock().running
    }

    /// Closures that wait for one that runs to end, or for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.places.waiting() + self.pool.lock().tasks.len()
    }

    /// Whether a closure of the current-thread flavour runs or is about to.
    pub(crate) fn any_in_flight(&self) -> bool {
        let pool = self.pool.lock();
        pool.running + pool.tasks.len() > 0
    }

    /// Takes a place at the end of the runtime, when none is given away any more. `false`: all are taken.
    fn take_place(&self, is_current_thread: bool) -> bool {
        if !is_current_thread {
            return self.places.try_count();
        }
        let mut pool = self.pool.lock();
        let may = pool.running < self.most;
        pool.running += usize::from(may);
        may
    }

    fn give_place_back(&self, is_current_thread: bool) {
        if is_current_thread { self.pool.lock().running -= 1 } else { self.places.uncount() }
    }

    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut waiting = self.places.close();
        let mut pool = self.pool.lock();
        pool.closed = true;
        waiting.extend(pool.tasks.drain(..));
        drop(pool);
        self.pool.wake.notify_all();
        waiting
    }
}

impl Scheduler {
    /// Queues a closure, or lets it wait for a place. Here and not when a machine comes across it: queues overtake each other,
    /// and who comes first is to be served first.
    pub(crate) fn submit_closure(self: &Arc<Self>, task: Runnable) {
        match self.closures.places.admit(task) {
            Admitted::Now(task) => {
                task.metadata().admit();
                task.schedule();
            }
            Admitted::Later => {}
            Admitted::Never(task) => cancel(task),
        }
    }
}

/// Runs a closure, which has a place, on a machine that holds a processor.
pub(super) fn execute(local: &Local, task: Runnable) {
    let scheduler = &local.scheduler;
    let has_place = task.metadata().take_admission();
    debug_assert!(has_place, "a closure without a place is in line, and in no queue");
    let excuse = task.metadata().may_be_abandoned().then(|| scheduler.roster.excuse(&local.machine));
    let outside = Outside::begin(local);
    if scheduler.closures.length.is_long() {
        run_without_processor(local, task);
    } else {
        run_with_processor(local, task);
    }
    drop(outside);
    drop(excuse);
    if let Some(next) = scheduler.closures.places.pass_on() {
        scheduler.submit_admitted(next);
    }
}

/// The processor goes on first, as that of a known hog: where closures are long, each would make others wait for sysmon.
fn run_without_processor(local: &Local, task: Runnable) {
    let since = Instant::now();
    if local.scheduler.has_waiting_work(local) {
        handoff::give_on(local);
    }
    run::poll(local, task, Region::Blocking);
    local.scheduler.closures.length.note(since.elapsed() > SHORT);
}

fn run_with_processor(local: &Local, task: Runnable) {
    let scheduler = &local.scheduler;
    // Without sysmon the closure gives the processor on itself, as a blocking section.
    if scheduler.config.sysmon && scheduler.has_waiting_work(local) {
        scheduler.sysmon.hurry();
    }
    // If it is long, sysmon takes the processor and says so.
    run::poll(local, task, Region::Blocking);
}

impl Scheduler {
    /// Queues a closure for the threads without a processor, and starts one if none is idle.
    pub(crate) fn submit_to_pool(self: &Arc<Self>, task: Runnable) {
        let pool = &self.closures.pool;
        let mut queue = pool.lock();
        if queue.closed {
            drop(queue);
            return cancel(task);
        }
        queue.tasks.push_back(task);
        if queue.idle > queue.called {
            queue.called += 1;
            drop(queue);
            return pool.wake.notify_one();
        }
        if queue.threads >= self.closures.most {
            return;
        }
        queue.threads += 1;
        drop(queue);
        if self.start_pool_thread().is_err() {
            self.without_pool_thread();
        }
    }

    fn start_pool_thread(self: &Arc<Self>) -> std::io::Result<()> {
        let scheduler = self.clone();
        self.start_thread(Machine::new(0), move |machine| {
            scheduler.config.hooks.started();
            scheduler.clone().serve_pool(&machine);
            scheduler.config.hooks.stopped();
        })
    }

    /// No thread could be started. Others will come to the closure; if there are none it must not be lost: a thread of
    /// its own was the only way to run it, so it is cancelled.
    fn without_pool_thread(&self) {
        let mut queue = self.closures.pool.lock();
        queue.threads -= 1;
        let orphans = if queue.threads == 0 { std::mem::take(&mut queue.tasks) } else { VecDeque::new() };
        drop(queue);
        orphans.into_iter().for_each(cancel);
    }

    fn serve_pool(self: Arc<Self>, machine: &Arc<Machine>) {
        let _entered = context::enter_blocking_thread(Anchor::new(self.clone()));
        let pool = &self.closures.pool;
        let mut queue = pool.lock();
        while !queue.closed {
            if let Some(task) = queue.tasks.pop_front() {
                queue.running += 1;
                drop(queue);
                self.run_in_pool(task, machine);
                queue = pool.lock();
                continue;
            }
            queue.idle += 1;
            let keep_alive = self.config.threads.keep_alive;
            let (woken, timed_out) = pool.wake.wait_timeout(queue, keep_alive);
            queue = woken;
            queue.idle -= 1;
            if queue.called > 0 {
                queue.called -= 1;
            } else if timed_out && queue.tasks.is_empty() {
                break;
            }
        }
        queue.threads -= 1;
    }

    fn run_in_pool(&self, task: Runnable, machine: &Arc<Machine>) {
        let excuse = task.metadata().may_be_abandoned().then(|| self.roster.excuse(machine));
        task.run();
        drop(excuse);
        self.closures.pool.lock().running -= 1;
        // A paused clock may be waiting for this closure before it advances by itself.
        fence(SeqCst);
        self.interrupt_poller();
    }
}

impl Scheduler {
    /// Runs a closure although the runtime is ending: if it must not be dropped, or if there is a place for it, so that
    /// it would have begun if the end had come a moment later. On a thread of its own: whoever brings it may be sysmon, on
    /// whom others wait, or a caller of `shutdown_background`, who does not want to.
    pub(crate) fn finish(self: &Arc<Self>, task: Runnable) {
        let must_finish = task.metadata().must_finish();
        let has_place = task.metadata().take_admission();
        if !must_finish && !has_place && !self.closures.take_place(self.config.is_current_thread()) {
            return drop_now(task);
        }
        let task = Arc::new(Mutex::new(Some(task)));
        let for_thread = task.clone();
        let scheduler = self.clone();
        let started = self.start_thread(Machine::new(0), move |_| scheduler.serve_one(&for_thread, must_finish));
        if started.is_err() {
            take_and(&task, |task| {
                if must_finish {
                    task.run();
                } else {
                    drop_now(task);
                }
            });
            self.finished(must_finish);
        }
    }

    fn serve_one(self: Arc<Self>, task: &Mutex<Option<Runnable>>, must_finish: bool) {
        let _entered = context::enter_blocking_thread(Anchor::new(self.clone()));
        take_and(task, |task| {
            task.run();
        });
        self.finished(must_finish);
    }

    fn finished(&self, must_finish: bool) {
        if !must_finish {
            self.closures.give_place_back(self.config.is_current_thread());
        }
    }
}

fn take_and(task: &Mutex<Option<Runnable>>, f: impl FnOnce(Runnable)) {
    let task = task.lock().take();
    if let Some(task) = task {
        f(task);
    }
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, PoolQueue> {
        self.queue.lock()
    }
}
