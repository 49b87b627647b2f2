//! Whether a machine is listed as one that offers its processor.

use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;

/// Whether a machine is on the list of those that offer their processor. (README, "Takeable".)
///
/// Set by the machine, cleared by a taker, both under the lock of the lists. The machine reads it without: between its own
/// change of region and this look, and between a taker's clearing and its look at the region, is a SeqCst fence.
#[derive(Debug)]
pub(crate) struct Offer(AtomicBool);

impl Offer {
    pub(crate) fn new() -> Offer {
        Offer(AtomicBool::new(false))
    }

    /// Asked by the machine itself, after it has changed its region and fenced.
    #[inline]
    pub(in crate::sched) fn stands(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub(in crate::sched) fn set(&self, stands: bool) {
        self.0.store(stands, Relaxed);
    }
}
