//! Entering scheduler code. Until a machine leaves it again, its processor can't be taken.
#![allow(unsafe_code, reason = "makes owner proofs")]

use crate::sched::local::Local;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::processor::Processor;
use crate::sched::state::processor::local_queue::OwnerProof;

/// Inside scheduler code: until the guard is dropped, the processor can't be taken.
pub(crate) struct InScheduler<'a> {
    local: &'a Local,
    /// The region that the machine was in before.
    pub(crate) came_from: Region,
}

/// A machine that holds a processor and is inside `Region::Scheduler`.
pub(crate) struct Held<'a> {
    pub(crate) processor: &'a Processor,
    pub(crate) index: usize,
    pub(crate) proof: OwnerProof,
}

impl Local {
    /// Enters scheduler code, from whichever region the machine is in.
    #[inline]
    pub(crate) fn enter(&self) -> InScheduler<'_> {
        let (came_from, loss) = self.machine.ownership.enter();
        self.record_loss(loss);
        InScheduler { local: self, came_from }
    }

    /// The processor. `None`: the machine holds none, or is not in scheduler code. For the machine's
    /// own loop, which stays there: to enter and leave would cost instructions on every turn.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held<'_>> {
        if self.machine.ownership.region() == Region::Scheduler { self.held_here() } else { None }
    }

    /// The same for a caller in scheduler code.
    #[inline]
    fn held_here(&self) -> Option<Held<'_>> {
        let index = self.machine.ownership.holds()?;
        // SAFETY: in scheduler code the machine's processor can't be taken, and `ownership` makes sure
        // that no other machine holds it.
        let proof = unsafe { OwnerProof::new() };
        Some(Held { processor: &self.scheduler.processors[index], index, proof })
    }
}

impl InScheduler<'_> {
    /// The processor, if the machine still holds one.
    #[inline]
    pub(crate) fn held(&self) -> Option<Held<'_>> {
        self.local.held_here()
    }

    /// Leaves scheduler code for a blocking section, or returns to the region around one.
    pub(crate) fn leave_for(self, region: Region) {
        self.local.machine.ownership.begin_section(region);
        std::mem::forget(self);
    }
}

impl Drop for InScheduler<'_> {
    #[inline]
    fn drop(&mut self) {
        self.local.machine.ownership.leave(self.came_from);
    }
}
