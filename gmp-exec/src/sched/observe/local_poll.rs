//! What a machine publishes of the tasks of `LocalSet`s that its thread polls.
//!
//! A set is polled within the poll of another future, mostly that of `block_on`. Where the thread
//! is watched (`sched::sysmon`), each poll of a task of the set is a turn of its own, so that
//! sysmon can tell the task that holds the thread from the future that polls the set. What
//! follows in the poll around it is another turn.
//!
//! On the multi-thread flavour the thread inside `block_on` is no machine, and no thread watches
//! it.

use crate::context;
use crate::sched::local::Local;
use crate::sched::state::machine::ownership::Region;
use crate::sync::Arc;
use crate::task::Runnable;

/// The thread that is about to poll a set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Driver {
    /// The processor of its machine.
    pub(crate) worker: Option<usize>,
    pub(crate) is_watched: bool,
}

impl Driver {
    /// This thread, if it is a machine of the runtime at that address.
    pub(crate) fn current(runtime: usize) -> Driver {
        context::with_machine(|local| match local {
            Some(local) if Arc::as_ptr(&local.scheduler).addr() == runtime => Driver::of(local),
            _ => Driver::default(),
        })
    }

    fn of(local: &Local) -> Driver {
        let ownership = &local.machine.ownership;
        let is_in_poll = || ownership.look().is_some_and(|seen| seen.region == Region::Poll);
        Driver { worker: ownership.holds(), is_watched: local.scheduler.config.is_watched && is_in_poll() }
    }

    /// Polls a task of the set.
    #[inline]
    pub(crate) fn poll(self, task: Runnable, poll: impl FnOnce(Runnable)) {
        if self.is_watched { poll_as_turn(task, poll) } else { poll(task) }
    }
}

#[cold]
fn poll_as_turn(task: Runnable, poll: impl FnOnce(Runnable)) {
    context::with_machine(|local| {
        let machine = &local.expect("a watched thread is a machine").machine;
        let around = machine.running.last();
        // The processor of the current-thread flavour is never taken.
        let _ = machine.ownership.enter();
        machine.running.set_local(task.metadata());
        machine.ownership.begin(Region::Poll);
        poll(task);
        let _ = machine.ownership.enter();
        machine.running.set_again(around);
        machine.ownership.begin(Region::Poll);
    });
}
