//! SleepUntil when a machine sleeps in the netpoll.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU64, fence};

/// Not sleeping, or interrupted.
const AWAKE: u64 = 0;
/// Sleeping without a limit, or about to compute it.
const FOREVER: u64 = u64::MAX;

/// When a machine that sleeps in the poller wakes by itself, in the clock's nanoseconds; [`AWAKE`], [`FOREVER`].
/// Every change is a read-modify-write, so that each sees the one before it, whoever made it.
#[derive(Debug)]
pub(crate) struct SleepUntil(AtomicU64);

impl SleepUntil {
    pub(crate) fn new() -> SleepUntil {
        SleepUntil(AtomicU64::new(AWAKE))
    }

    /// Announces a sleeper. What it finds afterwards nobody needs to tell it.
    pub(crate) fn announce(&self) {
        self.0.swap(FOREVER, AcqRel);
        fence(SeqCst);
    }

    /// Takes the announcement back.
    pub(crate) fn retract(&self) {
        self.0.swap(AWAKE, AcqRel);
    }

    /// FOREVER => `deadline`, unless somebody has interrupted: then the sleep that follows ends at once.
    pub(in crate::sched) fn limit(&self, deadline: u64) {
        let _ = self.0.compare_exchange(FOREVER, deadline.max(AWAKE + 1), AcqRel, Relaxed);
    }

    /// Whether the machine would sleep past `when`.
    pub(crate) fn is_past(&self, when: u64) -> bool {
        self.0.load(SeqCst) > when
    }

    /// Whether nobody has interrupted since `announce`.
    pub(in crate::sched) fn is_undisturbed(&self) -> bool {
        self.0.load(SeqCst) != AWAKE
    }

    /// Any => AWAKE. Whether the machine has to be woken.
    pub(in crate::sched) fn interrupt(&self) -> bool {
        self.0.swap(AWAKE, SeqCst) != AWAKE
    }
}
