//! A way to wait that blocks the thread, as a task should not.

use crate::sync::{Arc, Condvar, Mutex};

/// Opened once; stays open.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn wait(&self) {
        let mut is_open = self.0.0.lock();
        while !*is_open {
            is_open = self.0.1.wait(is_open);
        }
    }
}
