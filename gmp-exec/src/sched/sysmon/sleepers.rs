//! Hogs that sleep in their place, while others could have it.
//!
//! A task that is known to compute is polled without a processor, so nobody looks at its machine any more. If it sleeps, it
//! may wait for a task that waits for a place. So sysmon reads the CPU clocks of those who have one, and takes it from who sleeps
//! as soon as somebody wants it.

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
    /// During the last patience that is over.
    slept: bool,
}

impl Scheduler {
    /// Takes the places of those who sleep, if somebody wants one.
    pub(super) fn look_at_places(self: &Arc<Self>, memory: &mut Memory, is_place_wanted: bool, now: Instant) {
        memory.update_holders(self, now);
        let patience = self.config.blocking_threshold.saturating_mul(PATIENCE);
        for holder in &mut memory.holders {
            holder.observe(patience, now);
            if is_place_wanted && holder.slept {
                self.take_place_back(&holder.machine);
            }
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
                self.holders.push(Holder { machine, reading, slept: false });
            }
        }
    }
}

impl Holder {
    fn observe(&mut self, patience: Duration, now: Instant) {
        if now.duration_since(self.reading.at) >= patience {
            self.slept = self.reading.offence(&self.machine, now) == Offence::Blocked;
            self.reading = Reading::of(&self.machine, now);
        }
    }
}
