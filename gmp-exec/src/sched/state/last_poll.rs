//! How far the end of a runtime has come.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU8, AtomicUsize};

/// Tasks may be polled, or their futures are being dropped.
const OPEN: u8 = 0;
/// The thread that shuts down has dropped all futures that it could find.
const CLOSED: u8 = 1;
/// Timers and I/O have ended, or are about to.
const OVER: u8 = 2;

/// How far the end of a runtime has come.
///
/// Orderings: the fences of `end_if_last` decide who finds all steps made. Release and Acquire on
/// both fields order what was done before a step (futures dropped, `may_poll` set) before the end.
#[derive(Debug)]
pub(crate) struct LastPoll {
    /// `OPEN → CLOSED` by the thread that shuts down, `CLOSED → OVER` by the one that ends timers
    /// and I/O.
    phase: AtomicU8,
    /// Processors whose queues were emptied for good. Written by whoever has emptied one.
    drained: AtomicUsize,
}

impl LastPoll {
    pub(crate) fn new() -> LastPoll {
        LastPoll { phase: AtomicU8::new(OPEN), drained: AtomicUsize::new(0) }
    }

    /// The thread that shuts down has done its part.
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

    /// Whether no poll can begin any more.
    pub(in crate::sched) fn is_closed(&self, processors: usize) -> bool {
        self.phase.load(Acquire) == CLOSED && self.drained.load(Acquire) == processors
    }

    /// Whether the caller is to end timers and I/O.
    #[must_use]
    pub(in crate::sched) fn begin_end(&self) -> bool {
        self.phase.compare_exchange(CLOSED, OVER, AcqRel, Relaxed).is_ok()
    }
}
