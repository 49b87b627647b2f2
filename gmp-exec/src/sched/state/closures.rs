//! How many blocking closures may run at a time, which closures wait, and the threads that run
//! closures.

use crate::sched::state::permits::Permits;
use crate::sched::state::pool::Pool;
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
