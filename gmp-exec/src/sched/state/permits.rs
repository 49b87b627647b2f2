//! A limited number of permits, and the tasks that wait for one: a semaphore whose waiters are
//! runnables.
//!
//! Blocking closures need a permit to run, and so do the polls of hogs that compute. A poll that loses
//! its processor while it computes gets a permit, beyond the limit if need be. A task that finds no
//! permit waits here. A machine that releases a permit gives it to the task that has waited longest,
//! and runs or queues that task. A permit is passed on together with the task, so no later task gets it
//! first.
//!
//! While no task waits, a permit is acquired and released by one read-modify-write of `word`, which
//! many threads do at once. While a task waits, both need the lock. sched/README.md §7 has the
//! protocol.
//!
//! More permits than the limit may be granted (`grant_extra`, `acquire_beyond_limit`). As many must then
//! be released before the next task gets a permit.

use std::collections::VecDeque;

use crate::sync::Mutex;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::task::Runnable;

/// Every change of `word` is a read-modify-write. `Relaxed`: what a thread must see beside the word
/// is inside the lock, and a thread that sees `MUST_LOCK` takes the lock. `word` never falls
/// below 0, because the thread that releases a permit has learnt of the permit with the task. Only a
/// release is `Release`, and `held` is `Acquire`: a thread that finds no permit held sees what the
/// holders have done before.
pub(crate) struct Permits {
    /// The permits that are held, times `PERMIT`; and `MUST_LOCK`.
    word: AtomicUsize,
    /// Written under the lock.
    limit: AtomicUsize,
    queue: Mutex<Queue>,
}

/// No thread acquires a permit, or is done with a release, without the lock: tasks wait, or the
/// queue is closed. Set and cleared under the lock.
const MUST_LOCK: usize = 1;
const PERMIT: usize = 2;

struct Queue {
    waiting: VecDeque<Runnable>,
    closed: bool,
}

#[must_use]
pub(in crate::sched) enum Acquired {
    /// The task has a permit.
    Granted(Runnable),
    /// The task waits.
    Queued,
    /// The runtime is shutting down, or the task was aborted. The caller must cancel the task.
    Refused(Runnable),
}

impl Permits {
    pub(crate) fn new(limit: usize) -> Permits {
        Permits {
            word: AtomicUsize::new(0),
            limit: AtomicUsize::new(limit),
            queue: Mutex::new(Queue { waiting: VecDeque::new(), closed: false }),
        }
    }

    pub(in crate::sched) fn acquire(&self, task: Runnable) -> Acquired {
        if !task.metadata().is_aborted() && self.acquire_unlocked() {
            return Acquired::Granted(task);
        }
        let mut queue = self.queue.lock();
        // Under the lock: an abort sets the task's flag first and searches the queue second.
        if queue.closed || task.metadata().is_aborted() {
            return Acquired::Refused(task);
        }
        if queue.waiting.is_empty() && self.acquire_or_set_lock() {
            return Acquired::Granted(task);
        }
        queue.waiting.push_back(task);
        Acquired::Queued
    }

    /// Releases a permit. The task that has waited longest gets it, unless more permits than the
    /// limit are held.
    #[must_use = "the task has a permit, and no other thread would run it"]
    pub(in crate::sched) fn release_to_next(&self) -> Option<Runnable> {
        if self.word.fetch_sub(PERMIT, Release) & MUST_LOCK == 0 {
            return None;
        }
        let mut queue = self.queue.lock();
        if self.is_exhausted() { None } else { self.grant_next(&mut queue) }
    }

    /// Grants a permit to the task that has waited longest, beyond the limit.
    #[must_use = "the task has a permit, and no other thread would run it"]
    pub(in crate::sched) fn grant_extra(&self) -> Option<Runnable> {
        self.grant_next(&mut self.queue.lock())
    }

    /// Changes the limit. Returns the tasks that get permits because of it. If more permits are
    /// held than the new limit, as many must be released before the next task gets one.
    #[must_use = "the tasks have permits, and no other thread would run them"]
    pub(in crate::sched) fn set_limit(&self, limit: usize) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        self.limit.store(limit, Relaxed);
        let mut granted = Vec::new();
        while !self.is_exhausted() {
            let Some(task) = self.grant_next(&mut queue) else { break };
            granted.push(task);
        }
        granted
    }

    /// Acquires a permit, even if none is free. Relaxed: the permit guards no data, and its release by
    /// the machine comes after it, because `Ownership::take` is in between.
    pub(in crate::sched) fn acquire_beyond_limit(&self) {
        self.word.fetch_add(PERMIT, Relaxed);
    }

    /// Acquires a permit for a closure that does not wait. `false`: there is none.
    pub(in crate::sched) fn try_acquire(&self) -> bool {
        let _queue = self.queue.lock();
        let limit = self.limit.load(Relaxed);
        self.change(|word| (held(word) < limit).then_some(word + PERMIT)).is_some()
    }

    /// Removes the tasks that were aborted while they waited.
    pub(in crate::sched) fn take_aborted(&self) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        let (aborted, waiting): (Vec<_>, Vec<_>) =
            queue.waiting.drain(..).partition(|task| task.metadata().is_aborted());
        queue.waiting = waiting.into();
        self.word.fetch_and(!queue.unneeded_bit(), Relaxed);
        aborted
    }

    /// Whether as many permits are held as the limit allows, or more.
    pub(in crate::sched) fn is_exhausted(&self) -> bool {
        self.held() >= self.limit.load(Relaxed)
    }

    pub(crate) fn held(&self) -> usize {
        held(self.word.load(Acquire))
    }

    /// How many permits are held beyond the limit.
    pub(in crate::sched) fn excess(&self) -> usize {
        self.held().saturating_sub(self.limit.load(Relaxed))
    }

    /// Shows the tasks that wait, under the lock.
    pub(crate) fn look(&self, see: impl FnMut(&Runnable)) {
        self.queue.lock().waiting.iter().for_each(see);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.lock().waiting.len()
    }

    /// Grants nothing from now on, and returns the tasks that wait.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.word.fetch_or(MUST_LOCK, Relaxed);
        queue.waiting.drain(..).collect()
    }

    /// `false`: there is no permit, or the lock is needed.
    fn acquire_unlocked(&self) -> bool {
        let limit = self.limit.load(Relaxed);
        self.change(|word| (word & MUST_LOCK == 0 && held(word) < limit).then_some(word + PERMIT)).is_some()
    }

    /// Acquires a permit, or else makes all others take the lock, in one step: a permit that is
    /// released in between would not go to the task that is about to wait. Under the lock.
    fn acquire_or_set_lock(&self) -> bool {
        let limit = self.limit.load(Relaxed);
        let before = self.change(|word| Some(if held(word) < limit { word + PERMIT } else { word | MUST_LOCK }));
        before.is_some_and(|word| held(word) < limit)
    }

    /// In one step, so that no other task gets the permit.
    fn grant_next(&self, queue: &mut Queue) -> Option<Runnable> {
        let next = queue.waiting.pop_front()?;
        self.word.fetch_add(PERMIT - queue.unneeded_bit(), Relaxed);
        Some(next)
    }

    /// Returns the word before the change; `None`: nothing was to be changed.
    fn change(&self, change: impl Fn(usize) -> Option<usize>) -> Option<usize> {
        self.word.fetch_update(Relaxed, Relaxed, change).ok()
    }
}

fn held(word: usize) -> usize {
    word / PERMIT
}

impl Queue {
    /// `MUST_LOCK` if the bit is to be cleared, because no task waits any more; else 0.
    fn unneeded_bit(&self) -> usize {
        if self.waiting.is_empty() && !self.closed { MUST_LOCK } else { 0 }
    }
}
