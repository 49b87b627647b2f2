//! Where the scheduler gives its events to a recording.
//!
//! Reading the cycle counter is most of what an event costs (20 ns of 25 on a virtual computer). So
//! a poll that follows another poll directly begins at the moment at which the earlier poll ended,
//! and a task that was woken during its own poll is queued at the end of that poll. If the machine
//! has looked for a task anywhere but in its own queue, the counter is read: another thread may
//! have woken the task after the end of the poll before, and a wake-up must not come after its
//! poll.
//!
//! Starting and stopping change a number in [`Recorded`]. A machine compares the number where it
//! gets a processor, and on the turns on which it looks around; `start` asks all processors for
//! such a turn. A machine that has not noticed yet writes into a ring that is not read any more,
//! or nothing.

use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::sync::OnceLock;

use super::event::{Kind, Left, PollEnd};
use super::files::Files;
use super::recording::{Owner, Recording, Writer};
use super::stuck::StuckPoll;
use crate::sched::Scheduler;
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Arc, Mutex};
use crate::task::{Header, Id};

/// A runtime of this process is recorded, or was. Models have no recorder.
static IS_ANY: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Whether a runtime of this process is recorded, or was.
#[inline]
pub(crate) fn is_any_recorded() -> bool {
    IS_ANY.load(Relaxed)
}

/// Whether a runtime is recorded.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Changes with `recording`: the number of starts and stops, which take turns.
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
        IS_ANY.store(true, Relaxed);
        self.changes.fetch_add(1, Relaxed);
        true
    }

    pub(super) fn stop(&self) {
        let mut current = self.recording.lock();
        *current = None;
        self.changes.fetch_add(1, Relaxed);
    }

    /// Models are about the scheduler, and have no recorder.
    #[inline]
    fn has_changed_since(&self, seen: u64) -> bool {
        !cfg!(any(loom, shuttle)) && self.changes.load(Relaxed) != seen
    }

    /// The number of changes, and the recording.
    fn read(&self) -> (u64, Option<Arc<Recording>>) {
        let recording = self.recording.lock();
        (self.changes.load(Relaxed), recording.clone())
    }

    /// A task has panicked.
    #[cold]
    pub(crate) fn note_panic(&self, task: u64) {
        if let Some(files) = self.files.get() {
            files.note_panic(task);
        }
    }

    /// Whether the recorder wants to know of polls that hold their threads.
    pub(crate) fn wants_stuck_polls(&self) -> bool {
        self.files.get().is_some_and(Files::wants_stuck_polls)
    }

    /// A poll holds its thread. Not called by sysmon, as this takes a lock.
    pub(crate) fn note_stuck(&self, poll: StuckPoll) {
        if let Some(files) = self.files.get() {
            files.note_stuck(poll);
        }
    }

    pub(crate) fn note_end(&self) {
        if let Some(files) = self.files.get() {
            files.note_end();
        }
    }

    /// The process ends before the runtime does.
    pub(crate) fn write_last(&self, scheduler: &Arc<Scheduler>) {
        if let Some(files) = self.files.get() {
            files.end(scheduler);
        }
    }

    pub(crate) fn note_sigquit(&self, scheduler: &Arc<Scheduler>) {
        if let Some(files) = self.files.get() {
            files.note_sigquit(scheduler);
        }
    }

    /// Whether there is a recording. A thread may learn late that one has begun or ended.
    #[inline]
    pub(crate) fn is_under_way(&self) -> bool {
        !cfg!(any(loom, shuttle)) && self.changes.load(Relaxed) % 2 == 1
    }

    /// The recording under way, for a thread that has no tap. Takes a lock if there is one.
    pub(crate) fn current(&self) -> Option<Arc<Recording>> {
        if self.is_under_way() { self.recording.lock().clone() } else { None }
    }
}

/// A machine's access to the recording; only its own thread uses it.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    /// The `changes` that the machine has noticed.
    seen: Cell<u64>,
    open: RefCell<Option<Open>>,
}

/// The access while there is a recording.
#[derive(Debug)]
struct Open {
    writer: Writer,
    poll: Option<OpenPoll>,
    /// Polls of tasks of a `LocalSet` inside that one, the innermost last.
    locals: Vec<OpenPoll>,
    /// When the latest poll ended, if the next one may follow it directly.
    ended: Option<u64>,
    /// The place of the latest poll: often that of the next one, too.
    place: Option<(&'static Location<'static>, u16)>,
}

/// A poll that has begun.
#[derive(Clone, Copy, Debug)]
struct OpenPoll {
    task: u64,
    processor: Option<usize>,
    left: Left,
    is_root: bool,
}

impl Tap {
    /// Notices whether the runtime is recorded. `None`: nothing has changed.
    #[inline]
    pub(crate) fn notice(&self, recorded: &Recorded, owner: Owner) -> Option<bool> {
        if !recorded.has_changed_since(self.seen.get()) { None } else { Some(self.change(recorded, owner)) }
    }

    #[cold]
    fn change(&self, recorded: &Recorded, owner: Owner) -> bool {
        let (changes, recording) = recorded.read();
        self.seen.set(changes);
        let writer = recording.map(|recording| recording.join(owner));
        let is_recorded = writer.is_some();
        *self.open.borrow_mut() =
            writer.map(|writer| Open { writer, poll: None, locals: Vec::new(), ended: None, place: None });
        is_recorded
    }

    /// As before the first recording. If there is one, `notice` joins it again.
    pub(crate) fn leave_recording(&self) {
        self.seen.set(0);
        drop(self.open.take());
    }

    #[inline]
    fn with_open(&self, f: impl FnOnce(&mut Open)) {
        if let Some(open) = &mut *self.open.borrow_mut() {
            f(open);
        }
    }

    /// Records what `event` makes of the recording.
    pub(crate) fn record_with(&self, event: impl FnOnce(&Recording) -> (Kind, u64, u16)) {
        self.with_open(|open| {
            let (kind, subject, small) = event(&open.writer.recording);
            open.record(kind, subject, small);
        });
    }

    /// A task is about to be queued. One that was woken during its poll is queued when the poll is
    /// over, and perhaps polled by another machine a moment later.
    pub(crate) fn schedule(&self, task: &Header, yielded: bool) {
        self.with_open(|open| match open.poll_of(task).filter(|_| yielded) {
            Some(poll) => {
                poll.left = Left::Woken;
                open.end_poll();
            }
            None => {
                let (kind, small) = scheduled(&open.writer.recording, task);
                open.record(kind, task.id.as_u64(), small);
            }
        });
    }

    pub(crate) fn begin_poll(&self, task: &Header, processor: Option<usize>) {
        self.with_open(|open| {
            let (id, place) = (task.id.as_u64(), open.place(task.location));
            let ticks = open.ended.take().unwrap_or_else(|| open.writer.ticks());
            open.writer.record_at(ticks, Kind::PollBegin, id, place);
            open.poll = Some(OpenPoll { task: id, processor, left: Left::Done, is_root: false });
        });
    }

    /// A poll of the future given to `block_on` begins.
    pub(crate) fn begin_root(&self, root: Id, location: &'static Location<'static>, processor: Option<usize>) {
        self.with_open(|open| {
            let (id, place) = (root.as_u64(), open.place(location));
            open.record(Kind::RootBegin, id, place);
            open.poll = Some(OpenPoll { task: id, processor, left: Left::Waiting, is_root: true });
        });
    }

    /// That poll is over.
    pub(crate) fn end_root(&self, is_ready: bool) {
        self.with_open(|open| {
            if let Some(poll) = open.poll.as_mut().filter(|_| is_ready) {
                poll.left = Left::Done;
            }
            open.end_poll();
        });
    }

    /// A poll of a task of a `LocalSet` begins, inside the poll under way.
    pub(crate) fn begin_local(&self, task: &Header) {
        self.with_open(|open| {
            let (id, place) = (task.id.as_u64(), open.place(task.location));
            open.record(Kind::LocalBegin, id, place);
            open.locals.push(OpenPoll { task: id, processor: None, left: Left::Done, is_root: false });
        });
    }

    /// That poll is over.
    pub(crate) fn end_local(&self) {
        self.with_open(|open| {
            if let Some(OpenPoll { task, processor, left, is_root }) = open.locals.pop() {
                open.record(Kind::LocalEnd, task, PollEnd { left, processor, is_root }.pack());
            }
        });
    }

    /// A task of a `LocalSet` is about to be queued. One that was woken during its poll is queued
    /// when that returns, a moment before the poll is over for the recorder.
    pub(crate) fn schedule_local(&self, task: &Header) {
        self.with_open(|open| match open.local_of(task) {
            Some(poll) => poll.left = Left::Woken,
            None => {
                let place = if is_new(task) { open.place(task.location) } else { 0 };
                open.record(Kind::Wake, task.id.as_u64(), place);
            }
        });
    }

    /// The poll under way leaves its task like that.
    pub(crate) fn leave(&self, task: &Header, left: Left) {
        self.with_open(|open| {
            if let Some(poll) = open.local_of(task) {
                poll.left = left;
            } else if let Some(poll) = open.poll_of(task) {
                poll.left = left;
            }
        });
    }

    /// The poll under way is over, if there is one that was recorded.
    pub(crate) fn end_poll(&self) {
        self.with_open(Open::end_poll);
    }

    /// The next poll does not follow the latest one directly: its task may have been woken since,
    /// by another thread.
    #[cold]
    pub(crate) fn forget_end(&self) {
        self.with_open(|open| open.ended = None);
    }
}

impl Open {
    #[inline]
    fn record(&mut self, kind: Kind, subject: u64, small: u16) {
        self.ended = None;
        let ticks = self.writer.ticks();
        self.writer.record_at(ticks, kind, subject, small);
    }

    #[inline]
    fn place(&mut self, location: &'static Location<'static>) -> u16 {
        match self.place {
            Some((known, number)) if ptr::eq(known, location) => number,
            _ => {
                let number = self.writer.recording.place(location);
                self.place = Some((location, number));
                number
            }
        }
    }

    #[inline]
    fn end_poll(&mut self) {
        if let Some(OpenPoll { task, processor, left, is_root }) = self.poll.take() {
            let ticks = self.writer.ticks();
            self.writer.record_at(ticks, Kind::PollEnd, task, PollEnd { left, processor, is_root }.pack());
            self.ended = Some(ticks);
        }
    }

    /// The innermost poll of a task of a `LocalSet`, if it is this task's.
    fn local_of(&mut self, task: &Header) -> Option<&mut OpenPoll> {
        self.locals.last_mut().filter(|poll| poll.task == task.id.as_u64())
    }

    /// The poll under way, if it is this task's.
    #[inline]
    fn poll_of(&mut self, task: &Header) -> Option<&mut OpenPoll> {
        self.poll.as_mut().filter(|poll| poll.task == task.id.as_u64())
    }
}

/// Whether the task was not polled yet.
pub(crate) fn is_new(task: &Header) -> bool {
    task.progress.read().polls == 0
}

/// How a task came to be scheduled.
pub(crate) fn scheduled(recording: &Recording, task: &Header) -> (Kind, u16) {
    if is_new(task) { (Kind::Spawn, recording.place(task.location)) } else { (Kind::Wake, 0) }
}
