//! How many blocking closures may run at a time, which of them wait, and the threads of the current-thread flavour.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sched::state::permits::Permits;
use crate::sync::atomic::AtomicU8;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::task::Runnable;

#[derive(Debug)]
pub(crate) struct Closures {
    pub(in crate::sched) most: usize,
    /// Of the multi-thread flavour.
    pub(in crate::sched) permits: Permits,
    pub(in crate::sched) length: Length,
    pub(in crate::sched) pool: Pool,
}

/// A closure that is shorter than this is better run where it is than given a thread of its own: about two changes of threads.
pub(in crate::sched) const SHORT: Duration = Duration::from_micros(50);
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
    pub(in crate::sched) fn is_long(&self) -> bool {
        self.missing.load(Relaxed) > 0
    }

    pub(in crate::sched) fn note(&self, was_long: bool) {
        let missing = self.missing.load(Relaxed);
        self.missing.store(if was_long { SHORT_CLOSURES } else { missing.saturating_sub(1) }, Relaxed);
    }
}

/// Threads that run closures only.
#[derive(Debug)]
pub(in crate::sched) struct Pool {
    pub(in crate::sched) queue: Mutex<PoolQueue>,
    pub(in crate::sched) wake: Condvar,
}

#[derive(Debug, Default)]
pub(in crate::sched) struct PoolQueue {
    pub(in crate::sched) tasks: VecDeque<Runnable>,
    /// Closures that run. Counted in the same critical section in which they leave `tasks`, so that a paused clock never
    /// misses one in between.
    pub(in crate::sched) running: usize,
    pub(in crate::sched) threads: usize,
    pub(in crate::sched) idle: usize,
    /// Threads that were notified and have not looked yet.
    pub(in crate::sched) called: usize,
    pub(in crate::sched) closed: bool,
}

impl Closures {
    pub(crate) fn new(most: usize) -> Closures {
        Closures {
            most,
            permits: Permits::new(most),
            length: Length { missing: AtomicU8::new(0) },
            pool: Pool { queue: Mutex::default(), wake: Condvar::new() },
        }
    }

    /// Closures that are running. None of them can be aborted.
    pub(crate) fn running(&self) -> usize {
        self.permits.held() + self.pool.lock().running
    }

    /// Closures that wait for one that runs to end, or for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.permits.waiting() + self.pool.lock().tasks.len()
    }

    /// Whether a closure of the current-thread flavour runs or is about to.
    pub(crate) fn any_in_flight(&self) -> bool {
        let pool = self.pool.lock();
        pool.running + pool.tasks.len() > 0
    }

    /// Takes a place at the end of the runtime, when none is given away any more. `false`: all are taken.
    pub(in crate::sched) fn take_permit_at_shutdown(&self, is_current_thread: bool) -> bool {
        if !is_current_thread {
            return self.permits.try_acquire();
        }
        let mut pool = self.pool.lock();
        let may = pool.running < self.most;
        pool.running += usize::from(may);
        may
    }

    pub(in crate::sched) fn return_permit_at_shutdown(&self, is_current_thread: bool) {
        if is_current_thread { self.pool.lock().running -= 1 } else { self.permits.release_after_close() }
    }

    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut waiting = self.permits.close();
        let mut pool = self.pool.lock();
        pool.closed = true;
        waiting.extend(pool.tasks.drain(..));
        drop(pool);
        self.pool.wake.notify_all();
        waiting
    }
}

impl Pool {
    pub(in crate::sched) fn lock(&self) -> MutexGuard<'_, PoolQueue> {
        self.queue.lock()
    }
}
