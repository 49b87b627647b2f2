//! Whether a task waits, is scheduled or runs, how often it was polled, and what it waits for: read
//! by the dump (`dump`) and by the check for lost tasks (`lost`), which neither stop nor
//! poll a task.
//!
//! async-task has a state word of its own, which it keeps to itself. The two words here are written
//! with plain stores, because a single thread at a time may write them: the one that has the task's
//! [`Runnable`](crate::task::Runnable). A waker has the `Runnable` when async-task calls `schedule`, the
//! machine has it during the poll, and async-task orders the call before the poll.
//!
//! | thread with the `Runnable` | writes |
//! |---|---|
//! | waker, in `schedule` | S note = scheduled |
//! | machine, at the beginning of poll *n* | B1 state = running in poll *n* |
//! | | B2 note = nothing |
//! | a future that has to wait | N note = what it waits for |
//! | machine, at the end of a poll that waits | W state = waiting since poll *n* |
//!
//! | reader, any thread | |
//! |---|---|
//! | R1 state | |
//! | R2 note | |
//! | R3 state again | if it is another one, the task was running in between |
//!
//! *Claim: if R1 and R3 find that the task waits since poll n, then the note of R2 is the one with
//! which poll n has ended, or says that the task was scheduled afterwards.* R1 (Acquire) has seen W
//! (Release) of poll n, so R2 finds no older note than that of poll n. If R2 (Acquire) has seen B2
//! or N (Release) of a later poll, R3 finds B1 of that poll. What the reader says was true at one
//! moment between R1 and R3. *Without R3*, or with a relaxed B2, a task that is polled again would
//! have a note of the wrong poll. Model: `loom_progress_*`. The same holds for the words beside the
//! note (`further`), which N writes before it writes the note, and R2 reads after the note.
//!
//! Only the machine reads before it writes. A waker of another core that read the state first would
//! ask for the cache line twice.
//!
//! A task that has ended keeps "running". The registry does not list it then.

use crate::sync::atomic::AtomicU32;
use crate::sync::atomic::Ordering::*;
use crate::task::cell::further::Further;
use crate::task::cell::waiting::{Note, PackedWait, Stamp, Wait, Waits};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    Scheduled,
    Running,
}

#[derive(Debug)]
pub(crate) struct Progress {
    /// Twice the number of polls, plus 1 while the task runs.
    state: AtomicU32,
    further: Further,
    note: Note,
}

const RUNNING: u32 = 1;
const POLL: u32 = 2;

/// What the dump reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) stage: Stage,
    /// Modulo 2^31.
    pub(crate) polls: u32,
    waits: Waits,
}

impl Progress {
    /// Of a task that is about to be scheduled for the first time.
    #[inline]
    pub(crate) fn new() -> Progress {
        Progress { state: AtomicU32::new(0), further: Further::new(), note: Note::scheduled() }
    }

    #[inline]
    pub(crate) fn schedule(&self) {
        self.note.schedule();
    }

    /// The task was scheduled, `now` nanoseconds after some moment of its scheduler.
    pub(crate) fn stamp(&self, now: u64) {
        self.note.stamp(now);
    }

    /// A closure is about to wait for a permit of the pool, `now` nanoseconds after some moment.
    pub(crate) fn queue(&self, now: u64) {
        self.note.queue(now);
    }

    /// Since when a closure of the pool waits for a permit, in these nanoseconds.
    pub(crate) fn queued_at(&self) -> Option<u64> {
        self.note.read().queued_at()
    }

    /// When the task was scheduled, if that is measured. Called by the machine that is about to
    /// poll the task.
    pub(crate) fn stamped(&self) -> Option<Stamp> {
        self.note.stamped()
    }

    #[inline]
    pub(crate) fn begin_poll(&self) {
        let state = (self.state.load(Relaxed) | RUNNING).wrapping_add(POLL);
        self.state.store(state, Release); // B1
        self.note.clear(); // B2
    }

    /// As B2, in a poll whose futures give their stacks.
    pub(in crate::task) fn note_site(&self) {
        self.note.note_site();
    }

    /// A future has to wait. Called by the thread that polls the task.
    #[inline]
    pub(crate) fn note(&self, wait: PackedWait) {
        self.note.wait(wait, &self.further);
    }

    #[inline]
    pub(crate) fn wait(&self) {
        self.state.store(self.state.load(Relaxed) & !RUNNING, Release);
    }

    pub(crate) fn read(&self) -> Reading {
        let before = self.state.load(Acquire); // R1
        let noted = self.note.read(); // R2
        let further = if noted.has_others() { self.further.read() } else { Default::default() };
        let state = self.state.load(Relaxed); // R3
        let stage = if state & RUNNING != 0 || state != before {
            Stage::Running
        } else if noted.is_scheduled() {
            Stage::Scheduled
        } else {
            Stage::Waiting
        };
        Reading { stage, polls: state / POLL, waits: Waits { first: noted.first(), further } }
    }

    /// The number of the poll since whose end the task waits; `None` if it does not wait.
    pub(crate) fn waits_since(&self) -> Option<u32> {
        let reading = self.read();
        (reading.stage == Stage::Waiting).then_some(reading.polls)
    }
}

impl Reading {
    /// What the task waits for, as far as that is known, and whether for something else, too.
    pub(crate) fn waits_for(self) -> (Vec<Wait>, bool) {
        if self.stage == Stage::Waiting { self.waits.unpack() } else { Default::default() }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn seen(progress: &Progress) -> (Stage, u32) {
        let reading = progress.read();
        (reading.stage, reading.polls)
    }

    #[test]
    fn a_poll_is_counted_from_any_stage() {
        let progress = Progress::new();
        assert_eq!(seen(&progress), (Stage::Scheduled, 0));
        progress.begin_poll();
        assert_eq!(seen(&progress), (Stage::Running, 1));
        progress.wait();
        assert_eq!(seen(&progress), (Stage::Waiting, 1));
        // A task that is cancelled while it waits is run without being scheduled.
        progress.begin_poll();
        assert_eq!(seen(&progress), (Stage::Running, 2));
        progress.wait();
        progress.schedule();
        assert_eq!(seen(&progress), (Stage::Scheduled, 2));
        progress.schedule();
        progress.begin_poll();
        assert_eq!(seen(&progress), (Stage::Running, 3));
    }

    #[test]
    fn the_count_of_polls_wraps_round_and_the_stage_stays_right() {
        let progress = Progress::new();
        progress.state.store(!RUNNING, Relaxed);
        progress.begin_poll();
        assert_eq!(seen(&progress), (Stage::Running, 0));
    }

    #[test]
    fn a_note_counts_while_the_task_waits_after_the_poll_that_wrote_it() {
        let progress = Progress::new();
        let waits_for = || progress.read().waits_for().0;
        assert_eq!(waits_for(), [], "it has never been polled");
        progress.begin_poll();
        progress.note(Wait::Readable(3).pack());
        assert_eq!(waits_for(), [], "it runs");
        progress.wait();
        assert_eq!(waits_for(), [Wait::Readable(3)]);
        progress.schedule();
        assert_eq!(waits_for(), [], "it was woken");
        progress.begin_poll();
        progress.wait();
        assert_eq!((seen(&progress).0, waits_for()), (Stage::Waiting, vec![]), "its last poll has left no note");
    }
}
