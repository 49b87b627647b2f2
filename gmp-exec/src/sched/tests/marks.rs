//! Tasks for models of queues: running one twice, or without having synchronised with whoever queued it, is found.

use std::ptr::NonNull;

use loom::cell::UnsafeCell;

use crate::sched::state::processor::local_queue::Token;
use crate::sync::Arc;

/// How often each of `N` tasks ran. Outlives them.
pub(crate) struct Marks<const N: usize>([UnsafeCell<u32>; N]);

/// One task. Whoever holds it may touch its mark, and nobody else: loom looks at that.
pub(crate) struct Task(NonNull<UnsafeCell<u32>>);

// SAFETY: a mark is touched by who holds its task, and at the end. loom reports it if two threads do so at a time.
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

    /// How often each task ran. Every thread has been joined.
    pub(crate) fn runs(&self) -> [u32; N] {
        // SAFETY: loom checks that nobody writes meanwhile.
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
        // SAFETY: loom checks that nobody else is in here.
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
