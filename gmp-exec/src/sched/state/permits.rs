//! A limited number of permits, and the tasks that wait for one: a semaphore whose waiters are
//! runnables.
//!
//! Blocking closures need a permit to run, and so do the polls of hogs that compute. A task that
//! finds no permit waits here. A machine that releases a permit gives it to the task that has
//! waited longest, and runs or queues that task. Both happen under one lock: as two steps, "there
//! is no permit" and "wait" would leave behind a task that no release sees. A permit is passed on
//! together with the task, so no later task gets it first. The lock is taken twice per closure or
//! hog, never per ordinary task.
//!
//! Permits are only counted. `machine::absence` says which machine holds one of a hog. More permits
//! than the limit may be granted (`grant_extra`, `acquire_extra`). As many must then be released
//! before the next task gets one.

use std::collections::VecDeque;

use crate::sync::Mutex;
use crate::task::Runnable;

#[derive(Debug)]
pub(crate) struct Permits {
    queue: Mutex<Queue>,
}

#[derive(Debug)]
struct Queue {
    limit: usize,
    /// Permits that are held.
    held: usize,
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
        Permits { queue: Mutex::new(Queue { limit, held: 0, waiting: VecDeque::new(), closed: false }) }
    }

    pub(in crate::sched) fn acquire(&self, task: Runnable) -> Acquired {
        let mut queue = self.queue.lock();
        // Under the lock: an abort sets the task's flag first and searches the queue second.
        if queue.closed || task.metadata().is_aborted() {
            return Acquired::Refused(task);
        }
        if queue.held < queue.limit {
            queue.held += 1;
            return Acquired::Granted(task);
        }
        queue.waiting.push_back(task);
        Acquired::Queued
    }

    /// Releases a permit. The task that has waited longest gets it, unless more permits than the
    /// limit are held.
    #[must_use = "the task has a permit, and no other thread would run it"]
    pub(in crate::sched) fn release_to_next(&self) -> Option<Runnable> {
        let mut queue = self.queue.lock();
        queue.held -= 1;
        if queue.held >= queue.limit {
            return None;
        }
        queue.grant_next()
    }

    /// Grants a permit to the task that has waited longest, beyond the limit.
    #[must_use = "the task has a permit, and no other thread would run it"]
    pub(in crate::sched) fn grant_extra(&self) -> Option<Runnable> {
        self.queue.lock().grant_next()
    }

    /// Changes the limit. Returns the tasks that get permits because of it. If more permits are
    /// held than the new limit, as many must be released before the next task gets one.
    #[must_use = "the tasks have permits, and no other thread would run them"]
    pub(in crate::sched) fn set_limit(&self, limit: usize) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        queue.limit = limit;
        let mut granted = Vec::new();
        while queue.held < queue.limit {
            let Some(task) = queue.grant_next() else { break };
            granted.push(task);
        }
        granted
    }

    /// Acquires a permit for a poll or closure that runs already. `false`: there is none.
    pub(in crate::sched) fn try_acquire(&self) -> bool {
        let mut queue = self.queue.lock();
        let may = queue.held < queue.limit;
        queue.held += usize::from(may);
        may
    }

    /// Acquires a permit for a poll that runs already, beyond the limit if need be.
    pub(in crate::sched) fn acquire_extra(&self) {
        self.queue.lock().held += 1;
    }

    /// Releases a permit that was acquired after `close`: no task waits any more.
    pub(in crate::sched) fn release_after_close(&self) {
        self.queue.lock().held -= 1;
    }

    /// Removes the tasks that were aborted while they waited.
    pub(in crate::sched) fn take_aborted(&self) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        let (aborted, waiting): (Vec<_>, Vec<_>) =
            queue.waiting.drain(..).partition(|task| task.metadata().is_aborted());
        queue.waiting = waiting.into();
        aborted
    }

    /// Whether as many permits are held as the limit allows, or more.
    pub(in crate::sched) fn is_exhausted(&self) -> bool {
        let queue = self.queue.lock();
        queue.held >= queue.limit
    }

    pub(crate) fn held(&self) -> usize {
        self.queue.lock().held
    }

    /// Shows the tasks that wait, under the lock.
    pub(crate) fn look(&self, see: impl FnMut(&Runnable)) {
        self.queue.lock().waiting.iter().for_each(see);
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue.lock().waiting.len()
    }

    /// How many permits beyond the limit are held.
    pub(in crate::sched) fn excess(&self) -> usize {
        let queue = self.queue.lock();
        queue.held.saturating_sub(queue.limit)
    }

    /// Grants nothing from now on, and returns the tasks that wait.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        let mut queue = self.queue.lock();
        queue.closed = true;
        queue.waiting.drain(..).collect()
    }
}

impl Queue {
    fn grant_next(&mut self) -> Option<Runnable> {
        let next = self.waiting.pop_front()?;
        self.held += 1;
        Some(next)
    }
}
