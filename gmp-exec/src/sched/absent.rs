//! Polls that go on without a processor, and which of them count as computing: each of those holds
//! a permit of hogs.
//!
//! A poll gets its permit when its processor is taken while it computes, when it is the poll of a
//! task that is known to compute, or when sysmon finds that it computes by now (`sysmon::watch`).
//! sysmon takes back the permit of a poll that sleeps by now. Otherwise the machine releases the
//! permit when the poll is over. sched/README.md §7, "Verdicts change", has the steps of both
//! sides.

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::time_slice;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::{Relaxed, SeqCst};
use crate::sync::atomic::fence;

impl Scheduler {
    /// This turn of the machine is without a processor from now on: sysmon watches it.
    pub(super) fn watch(&self, machine: &Arc<Machine>, turn: u64) {
        let has_watcher = self.config.sysmon && self.sysmon.running.load(Relaxed);
        if has_watcher && machine.absence.begin(turn) {
            self.sysmon.absent.lock().push(machine.clone());
        }
    }

    /// Counts a poll without a processor as computing, beyond the limit if need be. `false`: the
    /// poll is over, or counts already.
    pub(super) fn count_absent(self: &Arc<Self>, machine: &Machine, turn: u64) -> bool {
        // Before the permit: the machine that releases it makes its slice short.
        self.lengthen_slice(machine);
        self.hogs.acquire_extra();
        if machine.absence.give_permit(turn) {
            fence(SeqCst);
            if machine.ownership.is_in_turn(turn) {
                return true;
            }
            if !machine.absence.revoke_permit(turn) {
                // The machine has released it.
                return false;
            }
        }
        self.release_hog_permit();
        self.shorten_slice(machine);
        false
    }

    /// A poll without a processor no longer counts as computing. `false`: it did not, or is over.
    pub(super) fn uncount_absent(self: &Arc<Self>, machine: &Machine, turn: u64) -> bool {
        let is_mine = machine.absence.revoke_permit(turn);
        if is_mine {
            self.shorten_slice(machine);
            self.release_hog_permit();
        }
        is_mine
    }
}

/// The machine is about to poll a hog with the permit that the hog has acquired.
pub(super) fn begin_with_permit(local: &Local) {
    if local.machine.absence.bring_permit(local.machine.ownership.next_turn()) {
        local.scheduler.release_hog_permit();
    }
}

/// The poll is over. Returns whether it had a permit, which the caller has to release.
pub(super) fn take_permit(local: &Local) -> bool {
    local.machine.absence.take_permit()
}

/// For a machine whose poll is over and which looks for a processor: releases the permit of the
/// poll.
pub(super) fn release_permit(local: &Local) {
    if take_permit(local) {
        local.scheduler.release_hog_permit();
        time_slice::shorten(local);
    }
}
