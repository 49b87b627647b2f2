//! Tasks of a `LocalSet`. A set is polled within the poll of another future, mostly that of `block_on`.
//!
//! Where the thread is watched (`sched::sysmon`), each poll of a task of the set is a turn of its
//! own, so that the report thread can tell the task that holds the thread from the future that polls
//! the set. What follows in the poll around it is another turn. On the multi-thread flavour the
//! thread inside `block_on` is no machine, and no thread watches it.

use super::block_on::with_tap;
use super::recorder::{is_any_recorded, tell, tell_outside};
use super::{Event, address};
use crate::context;
use crate::sched::Local;
use crate::sched::state::machine::ownership::Region;
use crate::task::{Header, Runnable};

/// The thread that is about to poll a set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Driver {
    /// The processor of its machine.
    pub(crate) worker: Option<usize>,
    is_watched: bool,
}

impl Driver {
    /// This thread, if it is a machine of the runtime at that address.
    pub(crate) fn current(runtime: usize) -> Driver {
        context::with_machine(|local| {
            let of_runtime = |local: &&Local| address(&local.scheduler) == runtime;
            let Some(local) = local.filter(of_runtime) else { return Driver::default() };
            let ownership = &local.machine.ownership;
            let is_in_poll = || ownership.look().is_some_and(|seen| seen.region == Region::Poll);
            let is_watched = local.scheduler.config.is_watched && is_in_poll();
            Driver { worker: ownership.holds(), is_watched }
        })
    }

    /// Polls a task of the set.
    #[inline]
    pub(crate) fn poll(self, task: Runnable, poll: impl FnOnce(Runnable)) {
        if self.is_watched || is_any_recorded() { self.poll_observed(task, poll) } else { poll(task) }
    }

    #[cold]
    fn poll_observed(self, task: Runnable, poll: impl FnOnce(Runnable)) {
        let poll = |task: Runnable| {
            with_tap(|tap, _| tell(tap, Event::LocalBegin(task.metadata())));
            poll(task);
            with_tap(|tap, _| tell(tap, Event::LocalEnd));
        };
        if self.is_watched { poll_as_turn(task, poll) } else { poll(task) }
    }
}

fn poll_as_turn(task: Runnable, poll: impl FnOnce(Runnable)) {
    context::with_machine(|local| {
        let machine = &local.expect("a watched thread is a machine").machine;
        let around = machine.running.read();
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

/// A task of a set of this runtime is about to be queued.
#[inline]
pub(crate) fn on_local_schedule(task: &Header, runtime: impl FnOnce() -> usize) {
    if is_any_recorded() {
        schedule_recorded(task, runtime());
    }
}

#[cold]
fn schedule_recorded(task: &Header, runtime: usize) {
    let is_told = with_tap(|tap, of| {
        of == runtime && {
            tell(tap, Event::LocalSchedule(task));
            true
        }
    });
    if is_told != Some(true) {
        // Only a thread in the context of the runtime knows the recording.
        let _ = context::with_scheduler(|scheduler| {
            if address(scheduler) == runtime {
                tell_outside(&scheduler.observers.recorded, Event::LocalSchedule(task));
            }
        });
    }
}
