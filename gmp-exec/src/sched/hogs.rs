//! Tasks that are known to hold on to their thread: the processor goes on before they start.
//!
//! The first offence of a task costs the threshold, because only sysmon finds it. From then on its polls run on a machine
//! without a processor, until one is short again (measured with eight sleeping hogs: longest gap 0.7 ms instead of 13).
//! A task that sleeps in the kernel costs a thread and nothing else. A task that computes competes for the cores, so at
//! most `max_hogs` of those run at a time (`hog_places`); the others wait in line, and a machine that has finished one goes
//! straight on with the next: known hogs never need a processor.

use super::admission::Admitted;
use super::handoff;
use super::machine::{Local, Machine};
use super::ownership::Region;
use super::run;
use super::scheduler::Scheduler;
use crate::sync::Arc;
use crate::task::{Offence, Runnable};
use std::time::{Duration, Instant};

/// A poll shorter than this ends a task's bad reputation.
pub(crate) const SHORT: Duration = Duration::from_millis(1);

/// Polls a known hog. The machine gives its processor on first, if another machine can be had for it.
pub(super) fn execute(local: &Local, task: Runnable, offence: Offence) {
    match offence {
        Offence::Blocked => without_processor(local, task),
        Offence::Burning => match local.scheduler.hogs.admit(&local.machine, task) {
            Admitted::Now(task) => burn(local, task),
            Admitted::Later => {}
            Admitted::Never(task) => crate::task::cancel(task),
        },
    }
}

/// Runs hogs one after the other until none waits.
fn burn(local: &Local, task: Runnable) {
    let mut next = Some(task);
    while let Some(task) = next {
        without_processor(local, task);
        next = local.scheduler.hogs.pass_on(&local.machine);
    }
}

fn without_processor(local: &Local, task: Runnable) {
    handoff::give_on(local);
    local.hog_since.set(Some(Instant::now()));
    run::poll(local, task, Region::Poll);
    local.hog_since.set(None);
}

impl Scheduler {
    /// A machine need not have its place, or not any more. Somebody may have got in line meanwhile who would have found it
    /// free.
    pub(super) fn take_place_back(self: &Arc<Self>, machine: &Arc<Machine>) {
        if let Some(task) = self.hogs.take_back(machine) {
            self.submit_global([task]);
        }
    }
}

/// The poll of a task that was not known has ended, after its processor was taken while it was computing.
pub(super) fn finish_unknown(local: &Local) {
    if let Some(task) = local.scheduler.hogs.pass_on(&local.machine) {
        burn(local, task);
    }
}
