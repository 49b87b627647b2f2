//! The word that every submitter reads without the lock.
//!
//! Low half: machines that spin. High half: processors in the lists; topmost bit: there is a poller in the lists.

pub(super) const ONE_SPINNING: u64 = 1;
pub(super) const ONE_IDLE: u64 = 1 << 32;
pub(super) const POLLER: u64 = 1 << 63;

/// A reading of the word.
#[derive(Clone, Copy)]
pub(super) struct Counts(pub(super) u64);

impl Counts {
    pub(super) fn spinning(self) -> usize {
        (self.0 & (ONE_IDLE - 1)) as usize
    }

    pub(super) fn has_poller(self) -> bool {
        self.0 & POLLER != 0
    }

    pub(super) fn idle(self) -> usize {
        ((self.0 & !POLLER) >> 32) as usize
    }

    /// Work that was just published would wait although a processor is free.
    pub(super) fn should_wake(self) -> bool {
        self.spinning() == 0 && self.idle() > 0
    }
}
