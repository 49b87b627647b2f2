//! What the recorder learns of tasks of `LocalSet`s: their polls, which are parts of a poll of the
//! set, and what wakes them.
//!
//! A set is polled by the machine of a current-thread runtime, or in `block_on` by a thread that is
//! no machine. The tap of such a thread is kept here while it polls.

use std::cell::RefCell;
use std::rc::Rc;

use crate::context;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::unusual::RECORDS;
use crate::sync::Arc;
use crate::task::{Header, Runnable};
use crate::trace::{Kind, Left, Tap, is_any_recorded};

thread_local! {
    static IN_BLOCK_ON: RefCell<Option<InBlockOn>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct InBlockOn {
    /// The address of the scheduler.
    runtime: usize,
    tap: Rc<Tap>,
}

/// This thread polls a future of the runtime in `block_on`, until the guard is dropped.
pub(in crate::sched) fn enter_block_on(scheduler: &Arc<Scheduler>, tap: &Rc<Tap>) -> LeaveBlockOn {
    let entered = InBlockOn { runtime: address(scheduler), tap: tap.clone() };
    LeaveBlockOn { before: IN_BLOCK_ON.replace(Some(entered)) }
}

pub(in crate::sched) struct LeaveBlockOn {
    before: Option<InBlockOn>,
}

impl Drop for LeaveBlockOn {
    fn drop(&mut self) {
        // While the thread ends nothing is polled.
        let _ = IN_BLOCK_ON.try_with(|current| current.replace(self.before.take()));
    }
}

/// Polls a task of a set, and records the poll.
#[inline]
pub(crate) fn poll(task: Runnable, poll: impl FnOnce(Runnable)) {
    if is_any_recorded() { poll_recorded(task, poll) } else { poll(task) }
}

#[cold]
fn poll_recorded(task: Runnable, poll: impl FnOnce(Runnable)) {
    with_tap(|tap, _| tap.begin_local(task.metadata()));
    poll(task);
    with_tap(|tap, _| tap.end_local());
}

/// A poll on a thread that is no machine ends, and the task waits.
pub(in crate::sched) fn waits(task: &Header) {
    if is_any_recorded() {
        with_tap(|tap, _| tap.leave(task, Left::Waiting));
    }
}

/// A task of a set of this runtime is about to be queued.
#[inline]
pub(crate) fn schedule(task: &Header, runtime: impl FnOnce() -> usize) {
    if is_any_recorded() {
        schedule_recorded(task, runtime());
    }
}

#[cold]
fn schedule_recorded(task: &Header, runtime: usize) {
    let is_done = with_tap(|tap, of| {
        if of == runtime {
            tap.schedule_local(task);
        }
        of == runtime
    });
    if is_done != Some(true) {
        let _ = context::with_scheduler(|scheduler| schedule_outside(scheduler, task, runtime));
    }
}

/// Only a thread in the context of the runtime knows the recording.
fn schedule_outside(scheduler: &Arc<Scheduler>, task: &Header, runtime: usize) {
    let recording = scheduler.recorded.current().filter(|_| address(scheduler) == runtime);
    if let Some(recording) = recording {
        let place = if is_new(task) { recording.place(task.location) } else { 0 };
        recording.record_outside(Kind::Wake, task.id.as_u64(), place);
    }
}

pub(crate) fn is_new(task: &Header) -> bool {
    task.progress.read().polls == 0
}

/// Calls `f` with the tap of this thread, and the runtime to which that belongs.
fn with_tap<R>(f: impl FnOnce(&Tap, usize) -> R) -> Option<R> {
    let entered = IN_BLOCK_ON.try_with(|current| current.borrow().clone()).ok().flatten();
    match entered {
        Some(InBlockOn { runtime, tap }) => Some(f(&tap, runtime)),
        None => context::with_machine(|local| {
            let local = local.filter(|local| local.unusual.is_any(RECORDS))?;
            Some(f(&local.tap, address(&local.scheduler)))
        }),
    }
}

fn address(scheduler: &Arc<Scheduler>) -> usize {
    Arc::as_ptr(scheduler).addr()
}
