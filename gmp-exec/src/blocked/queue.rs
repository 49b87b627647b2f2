//! Records on their way to the report thread.
//!
//! | thread with a record | report thread |
//! |---|---|
//! | push | `is_listening` = true |
//! | SeqCst fence | SeqCst fence |
//! | `is_listening`? call | the queue is empty? sleep |
//!
//! One fence is first: the thread with a record sees that the report thread listens, or the report
//! thread sees the record. While the report thread works, and for a while afterwards, it does not
//! listen, so that a thousand records in a second cost fifty wake-ups. Only a queue that fills up
//! wakes it sooner.
//!
//! A record that finds the queue full is dropped by the thread that brings it, which counts it.
//! Model: `loom_report_queue_*`.

use std::sync::OnceLock;
use std::time::Duration;

use concurrent_queue::ConcurrentQueue;

use super::record::Record;
use crate::sched::state::sysmon::calls::{self, Calls};
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU64, fence};

/// The report thread takes nothing out while it reads the program's line numbers: 0.1 s, or 2 s in
/// a program that is not optimised.
const CAPACITY: usize = if cfg!(feature = "blocked-stacks") { 2_048 } else { 64 };

#[derive(Debug)]
pub(super) struct Queue {
    /// Made for the first record: most runtimes never have one. In a box, because the value itself has
    /// several cache lines.
    records: OnceLock<Box<ConcurrentQueue<Record>>>,
    /// Records that found no room.
    dropped: AtomicU64,
    /// The next record wakes the report thread.
    is_listening: AtomicBool,
    calls: Calls,
}

impl Queue {
    pub(super) fn new() -> Queue {
        Queue {
            records: OnceLock::new(),
            dropped: AtomicU64::new(0),
            is_listening: AtomicBool::new(false),
            calls: Calls::default(),
        }
    }

    /// An end counts only after a beginning: until there has been one, nothing is made for it. Without
    /// effect under loom and shuttle, whose models are about the scheduler and not about its reports,
    /// unless a model has made the queue.
    pub(super) fn push(&self, record: Record) {
        if record.is_counted() && !cfg!(any(loom, shuttle)) {
            self.records.get_or_init(|| Box::new(ConcurrentQueue::bounded(CAPACITY)));
        }
        let Some(records) = self.records.get() else { return };
        if let Err(error) = records.push(record) {
            self.dropped.fetch_add(u64::from(error.into_inner().is_counted()), Relaxed);
        }
        if records.len() == CAPACITY / 2 {
            self.calls.add(calls::CALLED);
        }
        // Wakes the report thread if it waits.
        fence(SeqCst);
        if self.is_listening.load(Relaxed) && self.is_listening.swap(false, AcqRel) {
            self.calls.add(calls::CALLED);
        }
    }

    pub(super) fn pop(&self) -> Option<Record> {
        self.records.get()?.pop().ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.get().is_none_or(|records| records.is_empty())
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Ends the report thread.
    pub(super) fn stop(&self) {
        self.calls.add(calls::STOPPED);
    }

    /// Called by the report thread before anything else.
    pub(super) fn bind(&self) {
        self.calls.bind();
    }

    /// Waits until there is a record. Whether the thread is to end.
    pub(super) fn wait(&self) -> bool {
        self.is_listening.store(true, Relaxed);
        fence(SeqCst);
        let limit = if self.is_empty() { None } else { Some(Duration::ZERO) };
        self.rest(limit)
    }

    /// Lets records gather for so long. Whether the thread is to end.
    pub(super) fn gather(&self, limit: Duration) -> bool {
        self.rest(Some(limit))
    }

    fn rest(&self, limit: Option<Duration>) -> bool {
        let reasons = self.calls.wait(limit);
        self.is_listening.store(false, Relaxed);
        reasons & calls::STOPPED != 0
    }
}

#[cfg(all(test, loom))]
#[path = "loom_queue.rs"]
mod loom_queue;

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::panic::Location;
    use std::time::Instant;

    use super::super::record::{Begun, Ended};
    use super::*;
    use crate::blocked::BlockedCause;
    use crate::sched::state::machine::Machine;
    use crate::task::Id;

    fn begun() -> Begun {
        let (task, location) = (Id::next(), Location::caller());
        Begun {
            machine: Machine::new(1),
            turn: 1,
            task,
            name: None,
            location,
            is_root: false,
            cause: BlockedCause::Blocked,
            since: Instant::now(),
        }
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let queue = Queue::new();
        assert!(queue.is_empty());
        (0..CAPACITY + 3).for_each(|_| queue.push(Record::Begun(begun())));
        assert_eq!(queue.dropped(), 3);
        // The end of a poll is not counted: the report thread learns of it in other ways, too.
        queue.push(Record::Ended(Ended::now(&Machine::new(1), 1)));
        assert_eq!(queue.dropped(), 3);
        assert_eq!(std::iter::from_fn(|| queue.pop()).count(), CAPACITY);
        assert!(queue.is_empty());
    }

    #[test]
    fn the_end_of_a_poll_alone_is_not_queued() {
        let queue = Queue::new();
        queue.push(Record::Ended(Ended::now(&Machine::new(1), 1)));
        assert!(queue.pop().is_none());
    }

    #[test]
    fn a_record_that_is_there_already_is_not_waited_for() {
        let queue = Queue::new();
        queue.bind();
        queue.push(Record::Begun(begun()));
        assert!(!queue.wait());
        queue.stop();
        assert!(queue.wait());
    }
}
