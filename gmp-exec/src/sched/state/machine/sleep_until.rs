//! Until when a machine sleeps in the netpoll.

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicU64, fence};

/// Not sleeping, or interrupted. The default.
const AWAKE: u64 = 0;
/// Sleeping without a limit, or about to compute the limit.
const FOREVER: u64 = u64::MAX;

/// When a machine that sleeps in the netpoll wakes by itself, in the clock's nanoseconds, or
/// [`AWAKE`], or [`FOREVER`]. Every change is a read-modify-write, so that each change sees the one
/// before it, on whichever thread that was.
#[derive(Debug, Default)]
pub(crate) struct SleepUntil(AtomicU64);

impl SleepUntil {
    /// Announces that this machine is about to sleep. A reason not to sleep that the machine sees
    /// from here on needs no wake-up.
    pub(crate) fn announce(&self) {
        self.0.swap(FOREVER, AcqRel);
        fence(SeqCst);
    }

    /// Takes the announcement back.
    pub(crate) fn retract(&self) {
        self.0.swap(AWAKE, AcqRel);
    }

    /// FOREVER => `deadline`, unless an interrupter was first. Then the sleep that follows ends at
    /// once.
    pub(in crate::sched) fn limit(&self, deadline: u64) {
        let _ = self.0.compare_exchange(FOREVER, deadline.max(AWAKE + 1), AcqRel, Relaxed);
    }

    /// Whether the machine would sleep past `when`.
    pub(crate) fn is_past(&self, when: u64) -> bool {
        self.0.load(SeqCst) > when
    }

    /// Whether no interrupter has come since `announce`.
    pub(in crate::sched) fn is_undisturbed(&self) -> bool {
        self.0.load(SeqCst) != AWAKE
    }

    /// Any => AWAKE. Returns whether the caller has to wake the machine.
    pub(in crate::sched) fn interrupt(&self) -> bool {
        self.0.swap(AWAKE, SeqCst) != AWAKE
    }
}
