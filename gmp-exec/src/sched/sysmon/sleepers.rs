//! Hogs that sleep in their place, while others could have it.
//!
//! A task that is known to compute is polled without a processor, so nobody looks at its machine any more. If it sleeps, it
//! may wait for a task that waits for a place. So as long as somebody wants one, sysmon compares the CPU clocks of those who
//! have one.

use super::memory::Reading;
use super::{Memory, Scheduler};
use crate::sched::machine::Machine;
use crate::sync::Arc;
use crate::task::Offence;
use std::time::{Duration, Instant};

/// For how many thresholds a CPU clock has to stand still. More than in a poll with a processor: there a mistake costs a
/// switch of threads, here it lets more threads compute than there may be.
const PATIENCE: u32 = 10;

#[derive(Debug)]
pub(super) struct Holder {
    machine: Arc<Machine>,
    reading: Reading,
}

impl Scheduler {
    pub(super) fn take_places_back(self: &Arc<Self>, memory: &mut Memory, now: Instant) {
        memory.update_holders(self, now);
        let patience = self.config.blocking_threshold.saturating_mul(PATIENCE);
        let sleepers =
            memory.holders.iter_mut().filter_map(|holder| holder.sleeps_for(patience, now).then_some(&holder.machine));
        for sleeper in sleepers {
            self.take_place_back(sleeper);
        }
    }
}

impl Memory {
    fn update_holders(&mut self, scheduler: &Scheduler, now: Instant) {
        scheduler.hogs.copy_holders_into(&mut self.machines);
        self.holders.retain(|holder| self.machines.iter().any(|machine| Arc::ptr_eq(machine, &holder.machine)));
        for machine in self.machines.drain(..) {
            if !self.holders.iter().any(|holder| Arc::ptr_eq(&machine, &holder.machine)) {
                let reading = Reading::of(&machine, now);
                self.holders.push(Holder { machine, reading });
            }
        }
    }
}

impl Holder {
    /// Whether the thread has slept for `patience`; asked again, the time begins anew.
    fn sleeps_for(&mut self, patience: Duration, now: Instant) -> bool {
        if now.duration_since(self.reading.at) < patience {
            return false;
        }
        let offence = self.reading.offence(&self.machine, now);
        self.reading = Reading::of(&self.machine, now);
        offence == Offence::Blocked
    }
}
