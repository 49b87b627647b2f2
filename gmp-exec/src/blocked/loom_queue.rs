//! Records on their way to the report thread: each one is taken out, or is counted as dropped, and
//! a report thread that sleeps is woken for it.
//!
//! `push` is without effect in the models of the scheduler, so this model calls the function below
//! `push`.
//!
//! Seen to fail without the fence of the thread with a record.

use std::panic::Location;
use std::time::Instant;

use concurrent_queue::ConcurrentQueue;
use loom::thread;

use super::Queue;
use crate::blocked::BlockedCause;
use crate::blocked::record::{Begun, Record};
use crate::sched::state::machine::Machine;
use crate::sched::tests::explore;
use crate::sync::Arc;
use crate::task::Id;

fn queue(capacity: usize) -> Arc<Queue> {
    let queue = Queue::new();
    queue.records.set(Box::new(ConcurrentQueue::bounded(capacity))).unwrap();
    Arc::new(queue)
}

fn push(queue: &Queue) {
    let begun = Begun {
        machine: Machine::new(1),
        turn: 1,
        task: Id::next(),
        name: None,
        location: Location::caller(),
        is_root: false,
        cause: BlockedCause::Blocked,
        since: Instant::now(),
    };
    queue.push(Record::Begun(begun));
}

#[test]
fn loom_report_queue_wakes_the_report_thread() {
    explore(3, || {
        let queue = queue(2);
        let report = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.bind();
                while queue.pop().is_none() {
                    // Without an end, if the call is lost.
                    queue.wait();
                }
            })
        };
        push(&queue);
        report.join().unwrap();
        assert_eq!(queue.dropped(), 0);
    });
}

#[test]
fn loom_report_queue_counts_what_it_drops() {
    explore(3, || {
        let queue = queue(1);
        let pushing: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || push(&queue))
            })
            .collect();
        let early = u64::from(queue.pop().is_some());
        pushing.into_iter().for_each(|thread| thread.join().unwrap());
        let late = std::iter::from_fn(|| queue.pop()).count() as u64;
        assert_eq!(early + late + queue.dropped(), 2);
        assert!(early + late >= 1);
    });
}
