//! A queue with a lock.
//!
//! A lock taken once per batch beats a lock-free queue popped one task at a time (measured: 124 ns
//! a spawn instead of 152), because almost all traffic is batches of half a ring. The length is
//! kept beside the lock, so that a look does not need the lock.

use std::collections::VecDeque;

use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Apart, Mutex};
use crate::task::Runnable;

pub(super) struct Part {
    /// Length of the list, written under the lock. Any thread may read it as a hint. After a SeqCst
    /// fence the reader sees every push that came before the other side's fence.
    /// Apart, so that a look does not take the line of the lock away.
    len: Apart<AtomicUsize>,
    list: Mutex<List>,
}

struct List {
    tasks: VecDeque<Runnable>,
    /// How many tasks were taken out. A task keeps its number, which is this plus its index.
    taken: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Open,
    /// Shutdown has begun. The thread that closes the queue cancels the tasks that are pushed, and
    /// not the thread that pushes them: a waker may be called with a lock held that the future's
    /// destructor takes, too (h2 does this).
    Closing,
    /// The queue refuses all tasks.
    Closed,
}

#[must_use = "a refused task must be cancelled"]
pub(crate) enum Pushed {
    Queued,
    /// The thread that closes the queue cancels the tasks.
    Condemned,
    /// The runtime has been shut down. The caller must cancel the tasks, with no lock held.
    Closed(Vec<Runnable>),
}

/// Takes the tasks of all parts, for the thread that closes the queue. If there are none, every
/// push is refused from now on. All locks are held at once: a task that is cancelled on behalf of
/// one part may wake a task into another.
pub(super) fn take_or_refuse<'a>(parts: impl Iterator<Item = &'a Part>) -> VecDeque<Runnable> {
    let mut lists: Vec<_> = parts.map(|part| part.list.lock()).collect();
    let mut condemned = VecDeque::new();
    for list in &mut lists {
        list.taken += list.tasks.len() as u64;
        condemned.append(&mut list.tasks);
    }
    if condemned.is_empty() {
        lists.iter_mut().for_each(|list| list.stage = Stage::Closed);
    }
    condemned
}

impl Part {
    pub(super) fn new() -> Self {
        let list = List { tasks: VecDeque::new(), taken: 0, stage: Stage::Open };
        Part { len: Apart::new(AtomicUsize::new(0)), list: Mutex::new(list) }
    }

    pub(super) fn push(&self, tasks: impl IntoIterator<Item = Runnable>) -> Pushed {
        let mut list = self.list.lock();
        if list.stage == Stage::Closed {
            drop(list);
            return Pushed::Closed(tasks.into_iter().collect());
        }
        list.tasks.extend(tasks);
        if list.stage == Stage::Closing {
            return Pushed::Condemned;
        }
        self.len.store(list.tasks.len(), Release);
        Pushed::Queued
    }

    /// Removes one processor's share of the queue, at most `most` tasks and at least one. Returns
    /// the first task; the rest go to `keep`.
    pub(super) fn pop(&self, processors: usize, most: usize, mut keep: impl FnMut(Runnable)) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        if list.stage != Stage::Open {
            return None;
        }
        let count = (list.tasks.len() / processors + 1).min(most.max(1)).min(list.tasks.len());
        list.taken += count as u64;
        let first = list.tasks.pop_front();
        list.tasks.drain(..count.saturating_sub(1)).for_each(&mut keep);
        self.len.store(list.tasks.len(), Release);
        first
    }

    /// Removes the oldest task. `pop` would take 120 instructions more.
    pub(super) fn pop_one(&self) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        if list.stage != Stage::Open {
            return None;
        }
        let first = list.tasks.pop_front();
        list.taken += u64::from(first.is_some());
        self.len.store(list.tasks.len(), Release);
        first
    }

    /// From now on only the caller takes tasks out, with [`take_or_refuse`].
    pub(super) fn close(&self) {
        let mut list = self.list.lock();
        list.stage = Stage::Closing;
        self.len.store(0, Release);
    }

    /// Shows the tasks from this number on, at most so many. Returns the number to go on with;
    /// `None`: there are no more.
    pub(super) fn look(&self, from: u64, most: usize, see: impl FnMut(&Runnable)) -> Option<u64> {
        let list = self.list.lock();
        let skip = from.saturating_sub(list.taken) as usize;
        let end = list.tasks.len().min(skip.saturating_add(most));
        list.tasks.range(skip.min(end)..end).for_each(see);
        (end < list.tasks.len()).then_some(list.taken + end as u64)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn len(&self) -> usize {
        self.len.load(Acquire)
    }
}
