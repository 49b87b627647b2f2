//! Tasks that don't fit into the ring of a current-thread runtime.
//!
//! The multi-thread flavour gives half of a full ring to the other processors. Here there is no
//! other processor, and the tasks of one thread run in the order in which they were queued, so the
//! newer ones wait until the ring is empty. Only the owner of the processor uses this list. The
//! lock is never contended; it is there because the compiler can't know that.

use std::collections::VecDeque;

use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::processor::local_queue::{CAPACITY, LocalQueue};
use crate::sync::Mutex;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::*;
use crate::task::Runnable;

#[derive(Default)]
pub(crate) struct Spill {
    len: AtomicUsize,
    tasks: Mutex<VecDeque<Runnable>>,
}

impl Spill {
    pub(crate) fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Shows the tasks, under the lock.
    pub(crate) fn look(&self, see: impl FnMut(&Runnable)) {
        self.tasks.lock().iter().for_each(see);
    }

    #[cold]
    pub(crate) fn push(&self, _: &OwnerProof, task: Runnable) {
        let mut tasks = self.tasks.lock();
        tasks.push_back(task);
        self.len.store(tasks.len(), Relaxed);
    }

    /// Moves the oldest tasks to the empty ring, and returns the first of them.
    #[cold]
    pub(crate) fn refill(&self, ring: &LocalQueue<Runnable>, proof: &OwnerProof) -> Option<Runnable> {
        let mut tasks = self.tasks.lock();
        let first = tasks.pop_front();
        let count = tasks.len().min(CAPACITY);
        for task in tasks.drain(..count) {
            let pushed = ring.push(proof, task);
            debug_assert!(pushed.is_ok(), "the ring was empty, and only the owner pushes");
        }
        self.len.store(tasks.len(), Relaxed);
        first
    }
}
