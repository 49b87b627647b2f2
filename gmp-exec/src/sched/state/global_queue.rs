//! The queue that every processor feeds from: overflow, tasks woken from outside, tasks woken without a processor.
//!
//! A lock taken once per batch beats a lock-free queue popped one by one (measured: 124 ns a spawn instead of 152),
//! because almost all traffic is batches of half a ring. The length is kept beside the lock so that looking is free.

use std::collections::VecDeque;

use crate::sync::Mutex;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::*;
use crate::task::Runnable;

#[derive(Debug)]
pub(crate) struct GlobalQueue {
    /// Length of the list. Written under the lock; read by anybody as a hint, and after a SeqCst fence as the truth
    /// about every push before the other side's fence.
    len: AtomicUsize,
    list: Mutex<List>,
}

#[derive(Debug)]
struct List {
    tasks: VecDeque<Runnable>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Open,
    /// Shutdown has begun: what is pushed is cancelled by the thread that closes the queue, not by who pushes it. A waker
    /// may be called with a lock held that the future's destructor wants, too (h2 does that).
    Closing,
    /// Nothing is taken in any more.
    Closed,
}

#[must_use = "a refused task must be cancelled"]
pub(crate) enum Pushed {
    Queued,
    /// Whoever closes the queue cancels them.
    Condemned,
    /// The runtime has been shut down; the tasks are given back, to be cancelled with no lock held.
    Closed(Vec<Runnable>),
}

impl GlobalQueue {
    pub(crate) fn new() -> Self {
        let list = List { tasks: VecDeque::new(), stage: Stage::Open };
        GlobalQueue { len: AtomicUsize::new(0), list: Mutex::new(list) }
    }

    pub(crate) fn push(&self, tasks: impl IntoIterator<Item = Runnable>) -> Pushed {
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

    /// Removes this processor's share of the queue, at most `most`: the first is returned, the rest goes to `keep`.
    pub(crate) fn pop(&self, processors: usize, most: usize, mut keep: impl FnMut(Runnable)) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        if list.stage != Stage::Open {
            return None;
        }
        let count = (list.tasks.len() / processors + 1).min(most).min(list.tasks.len());
        let first = list.tasks.pop_front();
        list.tasks.drain(..count.saturating_sub(1)).for_each(&mut keep);
        self.len.store(list.tasks.len(), Release);
        first
    }

    /// Removes the oldest task.
    pub(crate) fn pop_one(&self) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        if list.stage != Stage::Open {
            return None;
        }
        let first = list.tasks.pop_front();
        self.len.store(list.tasks.len(), Release);
        first
    }

    /// From now on nobody takes anything out but the caller, which must call [`condemned`](Self::condemned) until there is
    /// nothing left.
    pub(crate) fn close(&self) {
        let mut list = self.list.lock();
        list.stage = Stage::Closing;
        self.len.store(0, Release);
    }

    /// What is to be cancelled. `None`: there is nothing, and from now on everything is refused.
    pub(crate) fn condemned(&self) -> Option<VecDeque<Runnable>> {
        let mut list = self.list.lock();
        let tasks = std::mem::take(&mut list.tasks);
        if tasks.is_empty() {
            list.stage = Stage::Closed;
            return None;
        }
        Some(tasks)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Acquire)
    }
}
