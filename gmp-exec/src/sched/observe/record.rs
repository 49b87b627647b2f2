//! What the scheduler tells the recorder (`trace`). Each function does nothing unless the machine
//! records, and the hot paths call them only then.

use std::time::Instant;

use crate::blocked::{Begun, Sight, Told};
use crate::context;
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::takeable::Note;
use crate::sched::state::unusual::RECORDS;
use crate::sync::Arc;
use crate::task::{Header, Id, Runnable, StuckBy};
use crate::trace::{Kind, Left, Owner, StuckPoll, Taken, scheduled};

impl Local {
    /// Notices whether the runtime is recorded.
    #[inline]
    pub(in crate::sched) fn notice_recorder(&self) {
        if let Some(records) = self.tap.notice(&self.scheduler.recorded, Owner::Machine(self.machine.id)) {
            self.unusual.set(RECORDS, records);
        }
    }

    /// The machine is not used for a while, or never again: it keeps neither a ring nor the recording.
    pub(in crate::sched) fn leave_recorder(&self) {
        if self.unusual.is_any(RECORDS) {
            self.tap.leave_recording();
            self.unusual.set(RECORDS, false);
        }
    }

    #[inline]
    pub(in crate::sched) fn record(&self, kind: Kind, subject: u64, small: usize) {
        if self.unusual.is_any(RECORDS) {
            self.tap.record(kind, subject, small as u16);
        }
    }

    /// The machine is about to return its processor: 1 to another machine, 0 because there is no
    /// work.
    pub(in crate::sched) fn record_release(&self, token: Option<&ProcessorToken>, how: u64) {
        if let Some(token) = token {
            self.record(Kind::Release, how, token.index());
        }
    }

    /// The lengths of queues, now and then.
    pub(in crate::sched) fn record_queues(&self, index: usize) {
        if self.unusual.is_any(RECORDS) {
            let most = (1 << 24) - 1;
            let own = self.scheduler.processors[index].depth().min(most) as u64;
            let global = self.scheduler.global.len().min(most) as u64;
            self.record(Kind::Queues, own | global << 24, index);
        }
    }
}

pub(in crate::sched) fn begin_poll(local: &Local, task: &Runnable) {
    if local.unusual.is_any(RECORDS) {
        local.tap.begin_poll(task.metadata(), local.machine.ownership.holds());
    }
}

pub(in crate::sched) fn end_poll(local: &Local) {
    if local.unusual.is_any(RECORDS) {
        local.tap.end_poll();
    }
}

/// The next poll may be that of a task that another thread has woken since the end of the latest.
#[inline]
pub(in crate::sched) fn forget_end(local: &Local) {
    if local.unusual.is_any(RECORDS) {
        local.tap.forget_end();
    }
}

/// A task of the current runtime has panicked.
#[cold]
pub(crate) fn panicked(task: Id) {
    let _ = context::with_scheduler(|scheduler| scheduler.recorded.note_panic(task.as_u64()));
}

/// A poll ends and the task waits.
pub(in crate::sched) fn waits(local: &Local, header: &Header) {
    if local.unusual.is_any(RECORDS) {
        local.tap.leave(header, Left::Waiting);
    }
}

/// A task is queued on this machine.
pub(in crate::sched) fn schedule(local: &Local, task: &Runnable, yielded: bool) {
    if local.unusual.is_any(RECORDS) {
        local.tap.schedule(task.metadata(), yielded);
    }
}

/// A task is about to be submitted on a thread that has no processor of this scheduler.
pub(in crate::sched) fn schedule_elsewhere(scheduler: &Arc<Scheduler>, task: &Header) {
    if !scheduler.recorded.is_used() {
        return;
    }
    on_machine_of(scheduler, |local| match local {
        Some(local) => local.tap.schedule(task, false),
        None => schedule_outside(scheduler, task),
    });
}

fn schedule_outside(scheduler: &Scheduler, task: &Header) {
    if let Some(recording) = scheduler.recorded.current() {
        let (kind, small) = scheduled(&recording, task);
        recording.record_outside(kind, task.id.as_u64(), small);
    }
}

/// Tells the recorder what the report thread knows of polls that hold their threads.
pub(in crate::sched) struct TellRecorder(pub(in crate::sched) Arc<Scheduler>);

impl Told for TellRecorder {
    fn wants_looks(&self) -> bool {
        self.0.recorded.wants_stuck_polls()
    }

    /// A file that is written because of the poll has what was seen.
    fn stuck(&self, begun: &Begun, sight: Option<Sight>) {
        let Begun { machine, turn, task, since, .. } = begun.clone();
        if let Some((sight, recording)) = sight.zip(self.0.recorded.current()) {
            recording.record_outside(Kind::Sight, task.as_u64(), recording.sight(sight));
        }
        self.0.recorded.note_stuck(StuckPoll { machine, turn, task: task.as_u64(), since });
    }
}

/// The machine is about to poll a known hog, which sysmon does not look for.
pub(in crate::sched) fn hog(local: &Local, task: &Header, since: Instant) {
    if local.scheduler.recorded.wants_stuck_polls() {
        let (machine, turn) = (local.machine.clone(), local.machine.ownership.next_turn());
        local.scheduler.recorded.note_stuck(StuckPoll { machine, turn, task: task.id.as_u64(), since });
    }
}

/// A processor was taken from the machine of that note.
pub(in crate::sched) fn take(scheduler: &Scheduler, index: usize, note: &Note) {
    let Some(recording) = scheduler.recorded.current() else { return };
    let small = Taken { processor: index, computes: note.cause == StuckBy::Computing }.pack();
    recording.record_outside(Kind::Take, note.machine.id as u64, small);
}

/// A mark of the program's own.
pub(crate) fn mark(name: &'static str) {
    let task = context::current_task_id();
    let _ = context::with_scheduler(|scheduler| {
        let Some(recording) = scheduler.recorded.current() else { return };
        on_machine_of(scheduler, |local| match local {
            Some(local) => local.tap.mark(task, name),
            None => recording.record_outside(Kind::Mark, task, recording.name(name)),
        });
    });
}

/// Calls `f` with the machine that this thread is, if it is one of that scheduler and records.
pub(in crate::sched) fn on_machine_of<R>(scheduler: &Arc<Scheduler>, f: impl FnOnce(Option<&Local>) -> R) -> R {
    context::with_machine(|local| {
        f(local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler) && local.unusual.is_any(RECORDS)))
    })
}
