//! The end of a runtime: no task is lost, every future is dropped, and nobody waits who does not want to.
//!
//! Shutdown closes the doors first and clears the rooms second. The doors: the global queue refuses tasks, the registry
//! refuses new waiters, idle machines are sent away; a task that is refused is cancelled by whoever brought it. The
//! rooms: idle processors are drained here, busy ones by their machines, which look at the flag before every poll. A
//! machine that is stuck in a poll finds out when the poll ends; `wait` waits for it, or not.

use super::machine::Local;
use super::owner_proof::OwnerProof;
use super::ownership::ProcessorToken;
use super::scheduler::Scheduler;
use crate::sync::Arc;
use crate::sync::atomic::{Ordering::SeqCst, fence};
use crate::task::cancel;
use crate::time::timers::wake_all;
use std::time::Duration;

impl Scheduler {
    /// Cancels every task that is not inside a poll, and tells all machines to leave. Returns at once; may be called
    /// more than once.
    pub(crate) fn shutdown(self: &Arc<Self>) {
        if !self.begin_shutdown() {
            return;
        }
        self.global.close().into_iter().for_each(cancel);
        self.hogs.close().into_iter().for_each(cancel);
        self.closures.close().into_iter().for_each(cancel);
        self.dismiss_idle();
        self.registry().close();
        if let Some(netpoll) = self.poller.netpoll() {
            netpoll.shutdown();
        }
        self.sysmon.stop();
    }

    /// Waits until every thread of the runtime has ended. `false`: not within `limit`.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> bool {
        self.roster.wait_empty(limit)
    }

    fn dismiss_idle(self: &Arc<Self>) {
        let closed = self.idle.close();
        fence(SeqCst);
        closed.machines.iter().for_each(|machine| {
            // Does something for the one in the poller only.
            self.poller.interrupt(machine);
            machine.unpark();
        });
        closed.processors.into_iter().for_each(|token| self.drain(token));
    }

    /// Cancels everything that is queued at a processor. The token is not given back: nobody will need it.
    pub(super) fn drain(&self, token: ProcessorToken) {
        let processor = &self.processors[token.index()];
        // SAFETY: the token is the right to be the processor's only owner.
        let proof = unsafe { OwnerProof::new() };
        while let Some(task) = processor.pop(&proof) {
            cancel(task);
        }
        // Woken, not dropped: somebody on another runtime may wait for one, and its next poll panics with the reason.
        wake_all(processor.timers.take_all());
        drop(token);
    }
}

/// A machine has seen the flag.
pub(super) fn leave(local: &Local) {
    if let Some(token) = local.machine.ownership.release() {
        local.scheduler.drain(token);
    }
    // What was retired while the doors were being closed.
    local.scheduler.idle.reclaim().into_iter().for_each(|token| local.scheduler.drain(token));
}
