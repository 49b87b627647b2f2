//! What all changes of the number of processors share.

use crate::metrics::Counter;
use crate::sync::{Mutex, MutexGuard};

#[derive(Debug)]
pub(crate) struct Resizing {
    lock: Mutex<()>,
    /// How often the number has changed. Written under the lock.
    pub(crate) changes: Counter,
}

impl Resizing {
    pub(crate) fn new() -> Resizing {
        Resizing { lock: Mutex::new(()), changes: Counter::default() }
    }

    /// Admits one change at a time.
    pub(in crate::sched) fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock()
    }
}
