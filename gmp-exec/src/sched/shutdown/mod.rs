//! The end of a runtime: no task is lost, every future is dropped, and nobody waits who does not want to.
//!
//! Shutdown closes the doors first and clears the rooms second. The doors: the global queue refuses tasks, the registry
//! refuses new waiters, idle machines are sent away. A task that is woken meanwhile is left to the thread that shuts down:
//! cancelled by whoever woke it, its future would be dropped under locks that the waker's caller may hold, and dropped
//! futures that wake each other would pile up on one stack. Only what comes when all that is over is cancelled by whoever
//! brought it: new tasks, and a task that was woken before but is queued as late as that.
//!
//! The rooms: idle processors are drained here, busy ones by their machines, which look at the flag before every poll. A
//! machine that is in a poll or a blocking section may be stuck there until something in its own ring has run, or been
//! cancelled: its processor is taken, by sysmon, and drained. `wait` waits for such machines, or not.
#![allow(unsafe_code, reason = "vouches for an owner proof")]

pub(crate) mod last_poll;

use std::time::{Duration, Instant};

use crate::context::{self, Entered};
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::scheduler_ref::SchedulerRef;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{ClaimResult, ProcessorToken};
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sched::state::takeable::Note;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::sync::{Arc, thread};
use crate::sys::membarrier;
use crate::task::{StuckBy, cancel};

/// How soon to look again at machines that were in scheduler code.
const STRAGGLER_INTERVAL: Duration = Duration::from_millis(1);

impl Scheduler {
    /// Cancels every task that is not inside a poll, and tells all machines to leave. Returns at once; may be called
    /// more than once.
    pub(crate) fn shutdown(self: &Arc<Self>) {
        if !self.begin_shutdown() {
            return;
        }
        self.global.close();
        self.hogs.close().into_iter().for_each(cancel);
        self.closures.close().into_iter().for_each(cancel);
        self.dismiss_idle();
        self.registry().close();
        while let Some(tasks) = self.global.condemned() {
            tasks.into_iter().for_each(cancel);
        }
        self.last_poll.close();
        self.end_if_last();
        self.sysmon.stop();
    }

    /// Waits until every thread of the runtime has ended, but no longer than `limit`.
    pub(crate) fn wait(&self, limit: Option<Duration>) {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.all_machines.wait_empty(deadline);
        // What came back to the list after the last machine had looked there.
        self.drain_late();
        self.all_machines.join(deadline);
    }

    /// The end of sysmon: takes the processors of machines that don't come to see the flag, until nobody has one.
    pub(in crate::sched) fn take_from_stragglers(self: &Arc<Self>) {
        // The futures that are dropped here find the runtime current, as everywhere else, and may not block.
        let _current = context::push_runtime(SchedulerRef::new(self.clone()));
        let _entered = context::set_entered(Entered::Runtime(self.config.flavor));
        let mut machines = Vec::new();
        loop {
            self.all_machines.copy_into(&mut machines);
            // Who does not seem to hold a processor now looks at the flag before it polls anything with one. Without the
            // barrier a machine may seem to, and keeps what is queued at it until its poll ends.
            let _ = membarrier::heavy();
            machines.retain(|machine| !self.take_for_shutdown(machine));
            // What was taken while the doors were being closed; its machine may wait for what is queued there.
            self.drain_late();
            if machines.is_empty() {
                return;
            }
            machines.clear();
            thread::park_timeout(STRAGGLER_INTERVAL);
        }
    }

    /// Takes the processor of a machine that is not in scheduler code. Whether it has none now.
    fn take_for_shutdown(&self, machine: &Arc<Machine>) -> bool {
        let Some(seen) = machine.ownership.look() else { return machine.ownership.has_no_processor() };
        let note = Note { machine: machine.clone(), seen, cause: StuckBy::Blocking };
        match self.takeable.take(&note, self.clock.running_ns()) {
            ClaimResult::Taken(token) => {
                self.drain(token);
                true
            }
            ClaimResult::Refused => false,
        }
    }

    fn dismiss_idle(self: &Arc<Self>) {
        let closed = self.idle.close();
        fence(SeqCst);
        closed.machines.iter().for_each(|machine| {
            // Does something for the one in the poller only.
            self.netpoll_gate.interrupt(machine);
            machine.unpark();
        });
        closed.processors.into_iter().for_each(|token| self.drain(token));
    }

    /// Cancels everything that is queued at a processor. The token is not given back: nobody will need it.
    pub(in crate::sched) fn drain(&self, token: ProcessorToken) {
        let processor = &self.processors[token.index()];
        processor.begin_busy(self.clock.running_ns());
        // SAFETY: the token is the right to be the processor's only owner.
        let proof = unsafe { OwnerProof::new() };
        while let Some(task) = processor.pop(&proof).or_else(|| processor.pop_oldest(&proof)) {
            cancel(task);
        }
        processor.end_busy(self.clock.running_ns());
        drop(token);
        self.last_poll.count_drained();
        self.end_if_last();
    }

    /// Cancels what is queued at processors that came back to the idle list after it was closed.
    pub(in crate::sched) fn drain_late(&self) {
        self.idle.reclaim().into_iter().for_each(|token| self.drain(token));
    }
}

/// A machine has seen the flag.
pub(in crate::sched) fn leave(local: &Local) {
    if let Some(token) = local.machine.ownership.release() {
        local.scheduler.drain(token);
    }
    // What was retired while the doors were being closed.
    local.scheduler.drain_late();
}
