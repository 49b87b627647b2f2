//! The word that every submitter reads without the lock.
//!
//! Low half: machines that spin. High half: processors in the lists. Topmost bit: the lists have a
//! sleeper.

pub(in crate::sched) const ONE_SPINNING: u64 = 1;
pub(in crate::sched) const ONE_IDLE: u64 = 1 << 32;
pub(in crate::sched) const SLEEPER: u64 = 1 << 63;

/// A reading of the word.
#[derive(Clone, Copy)]
pub(crate) struct Counts(pub(in crate::sched) u64);

impl Counts {
    pub(crate) fn spinning(self) -> usize {
        (self.0 & (ONE_IDLE - 1)) as usize
    }

    pub(crate) fn has_sleeper(self) -> bool {
        self.0 & SLEEPER != 0
    }

    pub(crate) fn idle(self) -> usize {
        ((self.0 & !SLEEPER) >> 32) as usize
    }

    /// Whether fewer than half of the busy processors' machines spin, `active` being the number of
    /// processors in use. More spinners would cost more than they find.
    pub(crate) fn may_spin(self, active: usize) -> bool {
        2 * self.spinning() < active - self.idle().min(active)
    }

    /// Whether work that was just published would wait although a processor is idle.
    pub(crate) fn should_wake(self) -> bool {
        self.spinning() == 0 && self.idle() > 0
    }

    /// Whether every processor has a machine, and no machine spins.
    pub(crate) fn are_all_busy(self) -> bool {
        self.idle() == 0 && self.spinning() == 0
    }

    /// Whether every processor has a machine, and no machine sleeps in the netpoll.
    pub(crate) fn is_unwatched(self) -> bool {
        self.idle() == 0 && !self.has_sleeper()
    }
}
