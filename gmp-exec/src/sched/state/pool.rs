//! Blocking closures: the threads that run closures and never hold a processor, and the closures that
//! they are to run.
//!
//! If no thread waits, the submitter starts one. So a closure stays in the queue only until its thread
//! has woken up, unless the system has no thread to give, or little would be left to the program. How
//! many closures run at a time is the matter of `permits`.

use std::collections::VecDeque;
use std::time::Duration;

use crate::sched::state::permits::Permits;
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::task::Runnable;

pub(crate) struct Closures {
    /// A closure holds one while it runs or is about to. A running closure can't be aborted.
    pub(crate) permits: Permits,
    pub(crate) pool: Pool,
}

impl Closures {
    pub(crate) fn new(most: usize) -> Closures {
        Closures { permits: Permits::new(most), pool: Pool::default() }
    }

    /// Shows the closures that wait for a permit or a thread, under the locks of the queues.
    pub(crate) fn look(&self, mut see: impl FnMut(&Runnable)) {
        self.permits.look(&mut see);
        self.pool.look(see);
    }

    /// Closures that wait for a permit or for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.permits.waiting() + self.pool.delayed()
    }

    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut waiting = self.permits.close();
        waiting.extend(self.pool.close());
        waiting
    }
}

#[derive(Debug, Default)]
pub(crate) struct Pool {
    inner: Mutex<Inner>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    queue: VecDeque<Runnable>,
    /// All threads, also those that are being started.
    threads: usize,
    /// Threads that are being started and have not called `started` yet.
    starting: usize,
    /// Threads that wait, and on which no submitter counts.
    idle: usize,
    /// Threads that wait, and on each of which a submitter counts for its closure.
    claimed: usize,
    closed: bool,
}

impl Pool {
    /// Queues a closure. `true`: no thread waits for one, and the caller must start a thread.
    ///
    /// # Errors
    ///
    /// The pool is closed. The closure is given back.
    pub(in crate::sched) fn submit(&self, closure: Runnable) -> Result<bool, Runnable> {
        let mut inner = self.inner.lock();
        if inner.closed {
            return Err(closure);
        }
        inner.queue.push_back(closure);
        if inner.idle == 0 {
            inner.threads += 1;
            inner.starting += 1;
            return Ok(true);
        }
        inner.idle -= 1;
        inner.claimed += 1;
        drop(inner);
        self.wake.notify_one();
        Ok(false)
    }

    /// Called by a new thread.
    pub(in crate::sched) fn started(&self) {
        self.inner.lock().starting -= 1;
    }

    /// The thread that the caller must start should rather not be started. `false`: it must be,
    /// because there is no other.
    pub(in crate::sched) fn leave_to_others(&self) -> bool {
        let mut inner = self.inner.lock();
        let may_leave = inner.threads > 1 && !inner.closed;
        if may_leave {
            inner.threads -= 1;
            inner.starting -= 1;
        }
        may_leave
    }

    /// The system has no thread. Returns the closures that no thread would ever run, or not before the
    /// runtime has ended.
    pub(in crate::sched) fn not_started(&self) -> VecDeque<Runnable> {
        let mut inner = self.inner.lock();
        inner.threads -= 1;
        inner.starting -= 1;
        if inner.threads == 0 || inner.closed { inner.take_delayed() } else { VecDeque::new() }
    }

    /// Called by a thread of the pool: waits for its next closure. `None`: there was none for
    /// `keep_alive`, or the pool is closed. The thread no longer counts.
    pub(in crate::sched) fn next(&self, keep_alive: Duration) -> Option<Runnable> {
        let mut inner = self.inner.lock();
        while inner.queue.is_empty() {
            if inner.closed {
                inner.threads -= 1;
                return None;
            }
            inner.idle += 1;
            inner = self.wait(inner, keep_alive)?;
        }
        inner.queue.pop_front()
    }

    /// `None`: no submitter counted on the thread for `keep_alive`.
    fn wait<'a>(&self, mut inner: MutexGuard<'a, Inner>, keep_alive: Duration) -> Option<MutexGuard<'a, Inner>> {
        let mut is_over = false;
        while inner.claimed == 0 && !inner.closed {
            if is_over {
                inner.idle -= 1;
                inner.threads -= 1;
                return None;
            }
            (inner, is_over) = self.wake.wait_timeout(inner, keep_alive);
        }
        // It does not matter which of the waiting threads a submitter had in mind.
        let waiting = if inner.claimed > 0 { &mut inner.claimed } else { &mut inner.idle };
        *waiting -= 1;
        Some(inner)
    }

    /// Returns the closures that no thread is about to take.
    pub(in crate::sched) fn close(&self) -> VecDeque<Runnable> {
        let mut inner = self.inner.lock();
        inner.closed = true;
        // A notification is a system call, even if no thread waits.
        if inner.idle + inner.claimed > 0 {
            self.wake.notify_all();
        }
        inner.take_delayed()
    }

    /// Threads that run a closure or wait for one.
    pub(crate) fn threads(&self) -> usize {
        self.inner.lock().threads
    }

    pub(crate) fn idle(&self) -> usize {
        self.inner.lock().idle
    }

    /// Closures for which no thread could be started.
    pub(in crate::sched) fn delayed(&self) -> usize {
        let inner = self.inner.lock();
        inner.queue.len() - inner.taken_soon()
    }

    /// Shows the closures that no thread has begun, under the lock.
    pub(in crate::sched) fn look(&self, see: impl FnMut(&Runnable)) {
        self.inner.lock().queue.iter().for_each(see);
    }
}

impl Inner {
    /// How many of the closures in the queue have a thread that is about to take a closure.
    fn taken_soon(&self) -> usize {
        self.queue.len().min(self.claimed + self.starting)
    }

    fn take_delayed(&mut self) -> VecDeque<Runnable> {
        self.queue.split_off(self.taken_soon())
    }
}
