//! Tasks for models of queues. loom finds a task that runs twice, or without synchronisation with
//! the thread that queued it.

use std::ptr::NonNull;

use loom::cell::UnsafeCell;

use crate::sched::state::processor::local_queue::Token;
use crate::sync::Arc;

/// How often each of `N` tasks ran. Outlives them.
pub(crate) struct Marks<const N: usize>([UnsafeCell<u32>; N]);

/// One task. Only the thread that holds the task may touch its mark; loom checks this.
pub(crate) struct Task(NonNull<UnsafeCell<u32>>);

// SAFETY: only the holder of a task touches its mark, and `runs` at the end. loom reports two
// threads at a time.
unsafe impl<const N: usize> Sync for Marks<N> {}

// SAFETY: as above; sending a task is sending a pointer to its mark.
unsafe impl Send for Task {}

// SAFETY: as above.
unsafe impl Sync for Task {}

impl<const N: usize> Marks<N> {
    pub(crate) fn new() -> Arc<Marks<N>> {
        Arc::new(Marks(std::array::from_fn(|_| UnsafeCell::new(0))))
    }

    /// Makes the task `index`. The marks must outlive it.
    pub(crate) fn task(&self, index: usize) -> Task {
        let task = Task(NonNull::from(&self.0[index]));
        task.touch(|runs| assert_eq!(*runs, 0));
        task
    }

    /// How often each task ran. Called after every thread was joined.
    pub(crate) fn runs(&self) -> [u32; N] {
        // SAFETY: loom checks that no thread writes at the same time.
        std::array::from_fn(|index| self.0[index].with(|runs| unsafe { *runs }))
    }
}

impl Task {
    pub(crate) fn run(&self) {
        self.touch(|runs| *runs += 1);
    }

    fn touch(&self, f: impl FnOnce(&mut u32)) {
        // SAFETY: the marks outlive their tasks.
        let mark = unsafe { self.0.as_ref() };
        // SAFETY: loom checks that no other thread is in here.
        mark.with_mut(|runs| f(unsafe { &mut *runs }));
    }
}

impl Token for Task {
    fn into_raw(self) -> NonNull<()> {
        self.0.cast()
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        Task(raw.cast())
    }
}
