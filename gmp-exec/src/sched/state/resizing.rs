//! What all changes of the number of processors share.

use crate::metrics::Counter;
use crate::sync::{Mutex, MutexGuard};

#[derive(Debug)]
pub(crate) struct Resizing {
    /// Whether the program has set a number, so that the CPUs are not followed any more.
    is_set: Mutex<bool>,
    /// How often the number has changed. Written under the lock.
    pub(crate) changes: Counter,
}

impl Resizing {
    pub(crate) fn new() -> Resizing {
        Resizing { is_set: Mutex::new(false), changes: Counter::default() }
    }

    /// Admits one change at a time. The value says whether the program has set a number.
    pub(in crate::sched) fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_set.lock()
    }
}
