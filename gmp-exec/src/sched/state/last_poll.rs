//! How far the end of a runtime has come.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicUsize};

/// The shutting thread has dropped all futures that it could find.
const CLOSED: u8 = 1;
/// Timers and I/O have ended, or are about to.
const OVER: u8 = 2;

/// How far the end of a runtime has come.
///
/// Orderings: the fences of `end_if_last` decide which thread finds that all steps are done.
/// Release and Acquire on both fields make sure that everything before a step (futures dropped,
/// `may_poll` set) comes before the end.
#[derive(Default)]
pub(crate) struct LastPoll {
    /// 0: tasks may be polled, or their futures are being dropped. `0 → CLOSED` by the shutting thread,
    /// `CLOSED → OVER` by the thread that ends timers and I/O.
    phase: AtomicU8,
    /// Processors whose queues were drained. Counted by the thread that has drained a processor.
    drained: AtomicUsize,
}

impl LastPoll {
    /// The shutting thread has dropped the futures that it could find.
    pub(in crate::sched) fn close(&self) {
        self.phase.store(CLOSED, Release);
    }

    pub(in crate::sched) fn count_drained(&self) {
        self.drained.fetch_add(1, AcqRel);
    }

    /// Whether timers and I/O have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.phase.load(Acquire) == OVER
    }

    /// Whether no poll can begin any more, and the end has not come yet.
    /// `processors` is asked once the phase is known: from then on no processor is added.
    pub(in crate::sched) fn is_closed(&self, processors: impl FnOnce() -> usize) -> bool {
        self.phase.load(Acquire) == CLOSED && self.drained.load(Acquire) == processors()
    }

    /// Whether the caller must end timers and I/O. True for one caller.
    #[must_use]
    pub(in crate::sched) fn begin_end(&self) -> bool {
        self.phase.compare_exchange(CLOSED, OVER, AcqRel, Relaxed).is_ok()
    }
}
