//! How many blocking closures may run at a time, which closures wait, and the pool of the
//! current-thread flavour.

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
    /// Used on the multi-thread flavour only.
    pub(in crate::sched) permits: Permits,
    pub(in crate::sched) length: Length,
    pub(in crate::sched) pool: Pool,
}

/// A shorter closure is better run on the machine that finds it than on another thread: about two
/// thread switches.
pub(in crate::sched) const SHORT: Duration = Duration::from_micros(50);
/// After this many short closures in a row the next one is expected to be short.
const SHORT_CLOSURES: u8 = 8;

/// Whether the next closure will probably be long: a program that runs one long closure runs more.
/// It decides only whether a machine hands its processor off early, so a lost update between two
/// machines is harmless.
#[derive(Debug)]
pub(in crate::sched) struct Length {
    /// How many short closures must still come in a row; 0: the next one is expected to be short.
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
    /// Closures that run. A closure is counted in the same critical section in which it leaves
    /// `tasks`, so that a paused clock never misses it in between.
    pub(in crate::sched) running: usize,
    pub(in crate::sched) threads: usize,
    pub(in crate::sched) idle: usize,
    /// Threads that were notified and have not looked at `tasks` yet.
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

    /// Closures that are running. A running closure can't be aborted.
    pub(crate) fn running(&self) -> usize {
        self.permits.held() + self.pool.lock().running
    }

    /// Threads of the current-thread flavour's pool that have no closure to run.
    pub(crate) fn idle_threads(&self) -> usize {
        self.pool.lock().idle
    }

    /// Shows the closures that wait for a permit or a thread, under the locks of the queues.
    pub(crate) fn look(&self, mut see: impl FnMut(&Runnable)) {
        self.permits.look(&mut see);
        self.pool.lock().tasks.iter().for_each(see);
    }

    /// Closures that wait for a permit or for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.permits.waiting() + self.pool.lock().tasks.len()
    }

    /// Whether a closure of the current-thread flavour runs or is about to.
    pub(crate) fn any_in_flight(&self) -> bool {
        let pool = self.pool.lock();
        pool.running + pool.tasks.len() > 0
    }

    /// Acquires a permit at the end of the runtime, when permits are no longer granted to waiting
    /// tasks. `false`: there is none.
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
