//! Who computes without a processor: at most `max_hogs` threads.
//!
//! A place is for a thread that computes, but a task that has always computed may sleep in its next poll, for as long as
//! something that waits in line here has not run. So a place belongs to a machine by name. The machine gives it up at the end
//! of its poll; sysmon takes it back when it has seen the thread's CPU clock stand still (`sysmon::sleepers`). Who comes
//! second finds the name gone and has nothing to give up.
//!
//! Rejected: a bare count of places, with which sleeping holders kept the line waiting for ever; and no limit at all, because
//! threads that compute only take each other's cores.

use super::admission::{Admission, Admitted};
use super::machine::Machine;
use crate::sync::{Arc, Mutex};
use crate::task::Runnable;

/// Whether a machine may compute without a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Place {
    /// It may from now on.
    Given,
    /// It may already: it polls a known hog, and kept its processor because there was no machine for it.
    Held,
    Refused,
}

#[derive(Debug)]
pub(crate) struct HogPlaces {
    admission: Admission,
    /// One entry for each place that `admission` counts; changed together, under this lock. A machine is listed twice for a
    /// moment when its processor is about to be taken in vain while it begins with a known hog.
    holders: Mutex<Vec<Arc<Machine>>>,
}

impl HogPlaces {
    pub(crate) fn new(places: usize) -> HogPlaces {
        HogPlaces { admission: Admission::new(places), holders: Mutex::default() }
    }

    /// For a known hog that the machine is about to poll.
    pub(super) fn admit(&self, machine: &Arc<Machine>, task: Runnable) -> Admitted {
        let mut holders = self.holders.lock();
        let admitted = self.admission.admit(task);
        if matches!(admitted, Admitted::Now(_)) {
            holders.push(machine.clone());
        }
        admitted
    }

    /// For a poll that goes on already, on a machine that is about to lose its processor.
    pub(super) fn try_give(&self, machine: &Arc<Machine>) -> Place {
        let mut holders = self.holders.lock();
        if position(&holders, machine).is_some() {
            return Place::Held;
        }
        if !self.admission.try_count() {
            return Place::Refused;
        }
        holders.push(machine.clone());
        Place::Given
    }

    /// The machine's poll has ended: goes on with the task that has waited longest, or gives the place up. `None` also if the
    /// place was taken back meanwhile.
    pub(super) fn pass_on(&self, machine: &Arc<Machine>) -> Option<Runnable> {
        let mut holders = self.holders.lock();
        let place = position(&holders, machine)?;
        let next = self.admission.pass_on();
        if next.is_none() {
            holders.swap_remove(place);
        }
        next
    }

    /// The machine sleeps in its place, or has kept its processor. The task that has waited longest comes out of the line, to
    /// be admitted again.
    pub(super) fn take_back(&self, machine: &Arc<Machine>) -> Option<Runnable> {
        let mut holders = self.holders.lock();
        let place = position(&holders, machine)?;
        holders.swap_remove(place);
        self.admission.leave()
    }

    pub(super) fn copy_holders_into(&self, machines: &mut Vec<Arc<Machine>>) {
        machines.clone_from(&self.holders.lock());
    }

    pub(crate) fn running(&self) -> usize {
        self.admission.running()
    }

    pub(super) fn waiting(&self) -> usize {
        self.admission.waiting()
    }

    /// Lets nobody in from now on and returns who waits.
    pub(crate) fn close(&self) -> Vec<Runnable> {
        self.admission.close()
    }
}

fn position(holders: &[Arc<Machine>], machine: &Arc<Machine>) -> Option<usize> {
    holders.iter().position(|holder| Arc::ptr_eq(holder, machine))
}
