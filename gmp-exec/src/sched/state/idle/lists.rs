//! The lists under the lock: idle processors and idle machines. Each change of a list changes the
//! word with it, which every submitter reads without the lock.

use std::any::Any;
use std::collections::BTreeSet;

use crate::sched::state::idle::Wake;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::machine::{Assignment, Machine};
use crate::sync::Arc;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::AcqRel;

/// The word. Low half: machines that spin. High half: processors in the lists. Topmost bit: the lists
/// have a sleeper.
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

#[derive(Default)]
pub(in crate::sched) struct Lists {
    /// Processors that no machine holds. LIFO, because the last one has the warmest caches.
    pub(in crate::sched) processors: Vec<ProcessorToken>,
    /// Processors beyond the number that may be in use. Their queues are empty.
    pub(in crate::sched) retired: Vec<ProcessorToken>,
    /// How many tokens there are, on these lists and with machines.
    pub(in crate::sched) tokens: usize,
    /// Machines that are parked, or about to park, and available for a processor. LIFO, because the
    /// last one has the warmest caches.
    pub(in crate::sched) spares: Vec<Arc<Machine>>,
    /// The machine that sleeps in the netpoll, or is about to.
    pub(in crate::sched) sleeper: Option<Arc<Machine>>,
    /// The number of machines, including those that are being started.
    pub(in crate::sched) machines: usize,
    /// The numbers of machines that have left. Those up to the highest one are either here, or each
    /// that of one machine.
    pub(super) free_ids: BTreeSet<usize>,
    pub(in crate::sched) most_machines: usize,
    /// Shutdown has begun: machines that go idle are told to exit.
    pub(in crate::sched) closed: bool,
    /// While no thread drives a current-thread runtime: what the last one has left for the next.
    pub(in crate::sched) driver: Option<Driver>,
}

/// The machine of the thread that drives a current-thread runtime. Its type is not known here, as
/// it is the machine's own side.
pub(crate) type Driver = Box<dyn Any + Send>;

impl Lists {
    pub(in crate::sched) fn pop_processor(&mut self, word: &AtomicU64, spin: bool) -> Option<ProcessorToken> {
        let token = self.processors.pop()?;
        let spinner = if spin { ONE_SPINNING } else { 0 };
        word.fetch_sub(ONE_IDLE - spinner, AcqRel);
        Some(token)
    }

    /// Returns the token if no machine is available.
    pub(in crate::sched) fn assign(
        &mut self,
        word: &AtomicU64,
        token: ProcessorToken,
        spinning: bool,
        sleeper_first: bool,
    ) -> Result<Wake, ProcessorToken> {
        if !self.closed {
            if sleeper_first && let Some(machine) = self.take_sleeper(word) {
                machine.assign(Assignment::Run { token, spinning });
                return Ok(Wake::Sleeper(machine));
            }
            if let Some(machine) = self.spares.pop() {
                machine.assign(Assignment::Run { token, spinning });
                return Ok(Wake::Spare(machine));
            }
            if let Some(machine) = self.take_sleeper(word) {
                machine.assign(Assignment::Run { token, spinning });
                return Ok(Wake::Sleeper(machine));
            }
            if let Some(id) = self.count_machine() {
                return Ok(Wake::Start { id, token, spinning });
            }
        }
        Err(token)
    }

    /// The number of the machine: the lowest one that no other machine has.
    pub(in crate::sched) fn count_machine(&mut self) -> Option<usize> {
        if self.machines >= self.most_machines || self.closed {
            return None;
        }
        self.machines += 1;
        Some(self.free_ids.pop_first().unwrap_or(self.machines))
    }

    pub(in crate::sched) fn uncount_machine(&mut self, id: usize) {
        self.machines -= 1;
        self.free_ids.insert(id);
    }

    pub(in crate::sched) fn is_listed(&self, machine: &Arc<Machine>) -> bool {
        self.is_sleeper(machine) || self.spares.iter().any(|spare| Arc::ptr_eq(spare, machine))
    }

    pub(in crate::sched) fn take_sleeper(&mut self, word: &AtomicU64) -> Option<Arc<Machine>> {
        word.fetch_and(!SLEEPER, AcqRel);
        self.sleeper.take()
    }

    pub(in crate::sched) fn unlist(&mut self, word: &AtomicU64, machine: &Arc<Machine>) {
        if self.is_sleeper(machine) {
            self.take_sleeper(word);
        } else {
            self.spares.retain(|spare| !Arc::ptr_eq(spare, machine));
        }
    }

    fn is_sleeper(&self, machine: &Arc<Machine>) -> bool {
        self.sleeper.as_ref().is_some_and(|sleeper| Arc::ptr_eq(sleeper, machine))
    }

    /// Takes all processors that no machine has, also the retired ones.
    pub(in crate::sched) fn take_processors(&mut self, word: &AtomicU64) -> Vec<ProcessorToken> {
        word.fetch_sub(self.processors.len() as u64 * ONE_IDLE, AcqRel);
        let retired = std::mem::take(&mut self.retired);
        self.processors.drain(..).chain(retired).collect()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Recordings and reports tell machines by their numbers.
    #[test]
    fn no_two_machines_have_one_number() {
        let mut lists = Lists { most_machines: 4, ..Lists::default() };
        let mut count = || lists.count_machine();
        assert_eq!([count(), count(), count()], [Some(1), Some(2), Some(3)]);
        lists.uncount_machine(1);
        lists.uncount_machine(2);
        let mut count = || lists.count_machine();
        assert_eq!([count(), count(), count(), count()], [Some(1), Some(2), Some(4), None]);
    }
}
