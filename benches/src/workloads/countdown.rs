//! "Wait for the last one", as tokio's own benches do it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::AcqRel;

use tokio::sync::Notify;

/// Shared by the tasks of a round, a clone for each.
///
/// The number and the bell are two allocations, so that a clone touches two shared counts: that is
/// the shape of the workload that tokio's benches made common, and a cheaper one would flatter both
/// sides differently.
#[derive(Clone)]
pub(super) struct Countdown {
    remaining: Arc<AtomicUsize>,
    last: Arc<Notify>,
}

impl Countdown {
    pub(super) fn new(tasks: u32) -> Self {
        Countdown { remaining: Arc::new(AtomicUsize::new(tasks as usize)), last: Arc::new(Notify::new()) }
    }

    /// One task is done.
    pub(super) fn decrement(&self) {
        if self.remaining.fetch_sub(1, AcqRel) == 1 {
            self.last.notify_one();
        }
    }

    /// Waits for the last one.
    pub(super) async fn finished(&self) {
        self.last.notified().await;
    }
}
