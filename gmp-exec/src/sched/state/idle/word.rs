//! The word that every submitter reads without the lock.
//!
//! Low half: machines that spin. High half: processors in the lists. Topmost bit: the lists have a
//! sleeper.

pub(in crate::sched) const ONE_SPINNING: u64 = 1;
pub(in crate::sched) const ONE_IDLE: u64 = 1 << 32;
pub(in crate::sched) const SLEEPER: u64 = 1 << 63;

/// A reading of the word.
#[derive(Clone, Copy)]
pub(in crate::sched) struct Counts(pub(in crate::sched) u64);

impl Counts {
    pub(in crate::sched) fn spinning(self) -> usize {
        (self.0 & (ONE_IDLE - 1)) as usize
    }

    pub(in crate::sched) fn has_sleeper(self) -> bool {
        self.0 & SLEEPER != 0
    }

    pub(in crate::sched) fn idle(self) -> usize {
        ((self.0 & !SLEEPER) >> 32) as usize
    }

    /// Whether fewer than half of the busy processors' machines spin, `active` being the number of
    /// processors in use. More spinners would cost more than they find.
    pub(in crate::sched) fn may_spin(self, active: usize) -> bool {
        2 * self.spinning() < active - self.idle().min(active)
    }

    /// Whether work that was just published would wait although a processor is idle.
    pub(in crate::sched) fn should_wake(self) -> bool {
        self.spinning() == 0 && self.idle() > 0
    }
}
