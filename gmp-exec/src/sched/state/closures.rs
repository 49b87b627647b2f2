//! How many blocking closures may run at a time, which closures wait, and the threads that run
//! closures.

use std::time::Duration;

use crate::sched::state::permits::Permits;
use crate::sched::state::pool::Pool;
use crate::sync::atomic::AtomicU8;
use crate::sync::atomic::Ordering::*;
use crate::task::Runnable;

pub(crate) struct Closures {
    /// A closure holds one while it runs or is about to. A running closure can't be aborted.
    pub(crate) permits: Permits,
    pub(crate) pool: Pool,
    /// Of the closures that machines run.
    pub(in crate::sched) length: Length,
}

/// A shorter closure is better run on the machine that finds it than on another thread: about two
/// thread switches.
pub(in crate::sched) const SHORT: Duration = Duration::from_micros(50);
/// After this many short closures in a row the next one is expected to be short.
const SHORT_CLOSURES: u8 = 8;

/// Whether the next closure will probably be long: a program that runs one long closure runs more.
/// It decides only whether a machine hands its processor off early, so a lost update between two
/// machines is harmless.
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

impl Closures {
    pub(crate) fn new(most: usize) -> Closures {
        Closures { permits: Permits::new(most), pool: Pool::default(), length: Length { missing: AtomicU8::new(0) } }
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
