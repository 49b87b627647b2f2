//! Shutdown at any moment, during any operation.

mod destructors;
mod dropped_futures;
mod joining;
mod last_poll;
#[cfg(target_os = "linux")]
mod long_waits;
mod machines;
mod outsiders;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Counts how many values of this type exist.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, SeqCst);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
