//! `spawn_blocking`: how many closures may run at a time, and who runs them.
//!
//! A blocking closure is a task whose body is a blocking section. The machine that comes across it runs it where it is,
//! and its processor is taken if the closure lasts: a short one costs a queue operation, not two thread switches. At
//! most `max_blocking_threads` run at a time; the others wait here, in order, and each closure that ends hands its place to the
//! first. Once a closure was long, so probably are the next ones, and each gives the processor on before it begins.
//!
//! On the current-thread flavour the only processor is never taken, so closures go to machines that have none.

mod at_shutdown;
mod inline;
mod pool;

use std::collections::VecDeque;
use std::time::Duration;

pub(super) use inline::execute;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::permits::{Admission, Admitted};
use crate::sync::atomic::AtomicU8;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, Condvar, Mutex, MutexGuard};
use crate::task::{Runnable, cancel};

#[derive(Debug)]
pub(crate) struct Closures {
    most: usize,
    /// Of the multi-thread flavour.
    pub(in crate::sched) places: Admission,
    pub(in crate::sched) length: Length,
    pool: Pool,
}

/// A closure that is shorter than this is better run where it is than given a thread of its own: about two changes of threads.
const SHORT: Duration = Duration::from_micros(50);
/// So many short closures in a row end the expectation that the next ones are long.
const SHORT_CLOSURES: u8 = 8;

/// How long the next closure will probably be: a program that runs one long closure runs more. Only whether a processor is
/// given on early depends on it, so machines write it without regard to each other.
#[derive(Debug)]
pub(in crate::sched) struct Length {
    /// How many short closures are still missing; 0: the next one is expected to be short.
    missing: AtomicU8,
}

impl Length {
    fn is_long(&self) -> bool {
        self.missing.load(Relaxed) > 0
    }

    pub(in crate::sched) fn note(&self, was_long: bool) {
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

impl Pool {
    fn lock(&self) -> MutexGuard<'_, PoolQueue> {
        self.queue.lock()
    }
}
