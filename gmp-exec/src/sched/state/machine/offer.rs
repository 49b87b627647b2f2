//! Whether a machine is listed as one that offers its processor.

use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;

/// Whether a machine is on the list of those that offer their processor (sched/README.md §7).
///
/// Set by the machine, cleared by a taker, both under the lock of the lists. The machine reads it
/// without the lock. Two SeqCst fences make that right: one between the machine's change of region
/// and this read, one between the taker's store and its look at the region.
#[derive(Debug)]
pub(crate) struct Offer(AtomicBool);

impl Offer {
    pub(crate) fn new() -> Offer {
        Offer(AtomicBool::new(false))
    }

    /// Called by the machine itself, after it has changed its region and made a SeqCst fence.
    #[inline]
    pub(in crate::sched) fn stands(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub(in crate::sched) fn set(&self, stands: bool) {
        self.0.store(stands, Relaxed);
    }
}
