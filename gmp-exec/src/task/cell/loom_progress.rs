//! A dump reads a task that is polled, waits, is woken and polled again: the note that it reads, and
//! the word beside it, are those of the poll since which the task waits.
//!
//! Seen to fail when the reader does not read the state again (R3), when R1 or R2 is relaxed, when
//! the note is cleared or written by a relaxed store, when it is cleared before the state says
//! "running", when the end of a poll is told by a relaxed store, when the word beside the note is
//! written or read relaxed, and when words of the poll before are kept. Not seen to fail when
//! `schedule` stores relaxed: what is read then was true earlier.

use loom::thread;

use crate::sched::tests::explore;
use crate::sync::{Arc, Mutex};
use crate::task::cell::progress::{Progress, Reading, Stage};
use crate::task::cell::waiting::Wait;

/// A task with two polls, each of which waits for a descriptor with the number of the poll, to be
/// readable or writable.
struct Task {
    progress: Progress,
    /// Whether the task's `Runnable` is there for its waker: what async-task's state word says.
    is_waiting: Mutex<bool>,
}

impl Task {
    fn new() -> Arc<Task> {
        Arc::new(Task { progress: Progress::new(), is_waiting: Mutex::new(false) })
    }

    fn poll(&self, number: i32) {
        self.progress.begin_poll();
        self.progress.note(Wait::Readable(number).pack());
        self.progress.note(Wait::Writable(number).pack());
        self.progress.wait();
        *self.is_waiting.lock() = true;
    }

    /// Returns whether the task was there to be woken.
    fn wake(&self) -> bool {
        let is_woken = std::mem::take(&mut *self.is_waiting.lock());
        if is_woken {
            self.progress.schedule();
        }
        is_woken
    }

    fn read(&self) -> Reading {
        let reading = self.progress.read();
        let polls = reading.polls;
        match reading.stage {
            Stage::Waiting => {
                let both = [Wait::Readable(polls as i32), Wait::Writable(polls as i32)];
                assert_eq!(reading.waits_for(), (both.to_vec(), false));
            }
            Stage::Scheduled => assert!(polls < 2, "nobody wakes the task after its second poll"),
            Stage::Running => assert!(polls > 0),
        }
        reading
    }
}

#[test]
fn loom_progress_is_read_while_the_task_is_polled() {
    explore(3, || {
        let task = Task::new();
        let first = thread::spawn({
            let task = task.clone();
            move || task.poll(1)
        });
        let second = thread::spawn({
            let task = task.clone();
            move || {
                task.wake() && {
                    task.poll(2);
                    true
                }
            }
        });
        let earlier = task.read();
        assert!(earlier.polls <= task.read().polls, "a reader never goes back");
        first.join().unwrap();
        let polls = if second.join().unwrap() { 2 } else { 1 };
        let last = task.read();
        assert_eq!((last.stage, last.polls), (Stage::Waiting, polls));
    });
}
