//! A processor for which no machine is available: `max_machines` is reached, the system has no
//! thread to give, or the runtime is shutting down.
//!
//! Its tasks go to the global queue before it goes on a list. There, running machines find the
//! tasks before they park. They would not always find the tasks in the queue of a processor on a
//! list: not the one in `runnext`, and none if that processor, or their own, retires
//! (sched/README.md §11).
#![allow(unsafe_code, reason = "makes an owner proof")]

use std::iter;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::Runnable;

impl Scheduler {
    /// Returns a processor that may have tasks.
    #[cold]
    pub(super) fn put_without_machine(self: &Arc<Self>, token: ProcessorToken) {
        let tasks = self.take_tasks(&token);
        self.idle.put(token);
        self.attend_to(tasks);
    }

    /// Empties the queue of a processor that no machine has.
    pub(in crate::sched) fn take_tasks(&self, token: &ProcessorToken) -> Vec<Runnable> {
        let processor = &self.processors[token.index()];
        processor.busy.end(self.clock.running_ns());
        // SAFETY: the token is the right to be the processor's only owner.
        let proof = unsafe { OwnerProof::new() };
        iter::from_fn(|| processor.pop(&proof)).collect()
    }

    /// The processor is on a list now, and these tasks were queued at it.
    pub(in crate::sched) fn attend_to(self: &Arc<Self>, tasks: Vec<Runnable>) {
        if !tasks.is_empty() {
            self.submit_global(tasks);
        }
        self.send_for_spare();
    }

    /// A machine that had found the idle list empty before may have parked since, and no other
    /// thread would wake it.
    fn send_for_spare(self: &Arc<Self>) {
        fence(SeqCst);
        if self.idle.snapshot().spares > 0 {
            self.wake_spinner();
        }
    }
}
