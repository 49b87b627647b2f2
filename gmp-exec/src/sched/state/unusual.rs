//! What is unusual about a machine: one byte with a bit for each reason. The hot paths test the
//! bits that they act on, and take their slow path if any is set.

use std::cell::Cell;

/// The machine is counted as spinning (`idle`).
pub(in crate::sched) const SPINS: u8 = 1;
/// Polls are measured, or have hooks. Never changes.
pub(crate) const MEASURES: u8 = 2;
/// What the machine does is recorded.
pub(crate) const RECORDS: u8 = 4;
/// All permits of hogs may be held while some tasks are suspects.
pub(in crate::sched) const CROWDED: u8 = 8;
/// Scheduling latencies are measured. Never changes.
pub(crate) const STAMPS: u8 = 16;
/// The machine is inside `Netpoll::poll`: tasks that become ready go into `Local::ready`.
pub(in crate::sched) const COLLECTS: u8 = 32;
/// The poll under way is that of a known hog (`Local::hog`).
pub(in crate::sched) const HOG: u8 = 64;

/// What matters before a poll.
pub(in crate::sched) const AT_POLL: u8 = SPINS | MEASURES | RECORDS | CROWDED;
/// What matters at the end of a poll.
pub(in crate::sched) const AT_END: u8 = RECORDS | HOG;
/// What matters when a task is submitted on this machine.
pub(in crate::sched) const AT_SUBMIT: u8 = RECORDS | STAMPS | COLLECTS;

pub(crate) struct Unusual {
    bits: Cell<u8>,
}

impl Unusual {
    /// `bits`: those that are set from the beginning.
    pub(in crate::sched) fn new(bits: u8) -> Unusual {
        Unusual { bits: Cell::new(bits) }
    }

    /// Whether one of these bits is set.
    #[inline]
    pub(crate) fn is_any(&self, bits: u8) -> bool {
        self.bits.get() & bits != 0
    }

    /// Clears this bit. Returns whether it was set.
    pub(in crate::sched) fn take(&self, bit: u8) -> bool {
        let was_set = self.is_any(bit);
        self.set(bit, false);
        was_set
    }

    /// Sets or clears this bit.
    #[inline]
    pub(crate) fn set(&self, bit: u8, on: bool) {
        let others = self.bits.get() & !bit;
        self.bits.set(if on { others | bit } else { others });
    }
}
