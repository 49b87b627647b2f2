//! Where the scheduler gives its events to a recording.
//!
//! Starting and stopping change a number in [`Recorded`]. A machine compares the number where it
//! gets a processor, and on the turns on which it looks around; `start` asks all processors for
//! such a turn. A machine that has not noticed yet writes into a ring that is not read any more,
//! or nothing.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;
use std::time::Duration;

use super::event::{Kind, Left, PollEnd};
use super::files::Files;
use super::recording::{Recording, Writer};
use crate::sched::Scheduler;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, Mutex};
use crate::task::Header;

/// Whether a runtime is recorded.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Changes with `recording`: the number of starts and stops.
    changes: AtomicU64,
    recording: Mutex<Option<Arc<Recording>>>,
    /// What `GMP_TRACE` asks for.
    pub(super) files: OnceLock<Files>,
}

impl Recorded {
    pub(crate) fn new() -> Recorded {
        Recorded { changes: AtomicU64::new(0), recording: Mutex::new(None), files: OnceLock::new() }
    }

    /// `false`: there is a recording already.
    pub(super) fn start(&self, recording: Arc<Recording>) -> bool {
        let mut current = self.recording.lock();
        if current.is_some() {
            return false;
        }
        *current = Some(recording);
        self.changes.fetch_add(1, Relaxed);
        true
    }

    pub(super) fn stop(&self) {
        *self.recording.lock() = None;
        self.changes.fetch_add(1, Relaxed);
    }

    /// Models are about the scheduler, and have no recorder.
    #[inline]
    fn has_changed_since(&self, seen: u64) -> bool {
        !cfg!(any(loom, shuttle)) && self.changes.load(Relaxed) != seen
    }

    /// A task has panicked.
    #[cold]
    pub(crate) fn note_panic(&self, task: u64) {
        if let Some(files) = self.files.get() {
            files.note_panic(task);
        }
    }

    /// A poll that had lost its processor is over.
    pub(crate) fn note_take(&self, task: u64, length: Duration) {
        if let Some(files) = self.files.get() {
            files.note_take(task, length);
        }
    }

    pub(crate) fn note_end(&self) {
        if let Some(files) = self.files.get() {
            files.note_end();
        }
    }

    pub(crate) fn note_sigquit(&self, scheduler: &Arc<Scheduler>) {
        if let Some(files) = self.files.get() {
            files.note_sigquit(scheduler);
        }
    }

    /// The recording under way, for a thread that has no tap.
    pub(crate) fn current(&self) -> Option<Arc<Recording>> {
        // 0 as long as there was none.
        if !self.has_changed_since(0) { None } else { self.recording.lock().clone() }
    }
}

/// A machine's access to the recording; only its own thread uses it.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    writer: RefCell<Option<Writer>>,
    /// The `changes` that the machine has noticed.
    seen: Cell<u64>,
    poll: Cell<Option<OpenPoll>>,
}

/// A poll that has begun.
#[derive(Clone, Copy, Debug)]
struct OpenPoll {
    task: u64,
    processor: Option<usize>,
    left: Left,
    /// In ticks of the recording.
    since: u64,
}

impl Tap {
    /// Notices whether the runtime is recorded. `None`: nothing has changed.
    #[inline]
    pub(crate) fn notice(&self, recorded: &Recorded, machine: usize) -> Option<bool> {
        if !recorded.has_changed_since(self.seen.get()) { None } else { Some(self.change(recorded, machine)) }
    }

    #[cold]
    fn change(&self, recorded: &Recorded, machine: usize) -> bool {
        let current = recorded.recording.lock();
        self.seen.set(recorded.changes.load(Relaxed));
        let writer = current.as_ref().map(|recording| recording.join(machine));
        drop(current);
        let is_recorded = writer.is_some();
        self.poll.set(None);
        *self.writer.borrow_mut() = writer;
        is_recorded
    }

    pub(crate) fn record(&self, kind: Kind, subject: u64, small: u16) {
        if let Some(writer) = &*self.writer.borrow() {
            writer.record(kind, subject, small);
        }
    }

    /// A task was spawned or woken.
    pub(crate) fn schedule(&self, task: &Header, yielded: bool) {
        if let Some(writer) = &*self.writer.borrow() {
            let (kind, small) = scheduled(&writer.recording, task, yielded);
            writer.record(kind, task.id.as_u64(), small);
        }
        if yielded {
            self.leave(task, Left::Woken);
        }
    }

    pub(crate) fn mark(&self, task: u64, name: &'static str) {
        if let Some(writer) = &*self.writer.borrow() {
            writer.record(Kind::Mark, task, writer.recording.name(name));
        }
    }

    /// A poll begins; `None`: of the future of `block_on`.
    pub(crate) fn begin_poll(&self, task: Option<&Header>, processor: Option<usize>) {
        let id = task.map_or(0, |task| task.id.as_u64());
        if let Some(writer) = &*self.writer.borrow() {
            let place = task.map_or(0, |task| writer.recording.place(task.location));
            let since = writer.record(Kind::PollBegin, id, place);
            self.poll.set(Some(OpenPoll { task: id, processor, left: Left::Done, since }));
        }
    }

    /// The task of the poll under way, and how long the poll has lasted.
    pub(crate) fn poll_under_way(&self) -> Option<(u64, Duration)> {
        let poll = self.poll.get()?;
        Some((poll.task, self.writer.borrow().as_ref()?.recording.since(poll.since)))
    }

    /// The poll under way leaves its task like that. A task of a `LocalSet` is polled inside the
    /// poll of another task, which is the one that is recorded.
    pub(crate) fn leave(&self, task: &Header, left: Left) {
        if let Some(poll) = self.poll.get().filter(|poll| poll.task == task.id.as_u64()) {
            self.poll.set(Some(OpenPoll { left, ..poll }));
        }
    }

    /// The poll under way is over, if there is one that was recorded.
    pub(crate) fn end_poll(&self) {
        if let Some(OpenPoll { task, processor, left, .. }) = self.poll.take() {
            self.record(Kind::PollEnd, task, PollEnd { left, processor }.pack());
        }
    }
}

/// How a task came to be scheduled.
pub(crate) fn scheduled(recording: &Recording, task: &Header, yielded: bool) -> (Kind, u16) {
    if task.progress.read().polls == 0 {
        (Kind::Spawn, recording.place(task.location))
    } else {
        (Kind::Wake, u16::from(yielded))
    }
}
