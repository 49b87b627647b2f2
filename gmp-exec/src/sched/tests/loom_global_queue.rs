//! The parts of the global queue are closed together.
//!
//! Seen to fail when each part is closed as soon as it is found empty.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use loom::thread;

use crate::sched::state::global_queue::{GlobalQueue, Pushed};
use crate::sched::tests::explore;
use crate::sched::tests::stage::{scheduler, task};
use crate::sync::Arc;
use crate::task::cancel;

/// A push is refused only after every task in all parts has been cancelled, and none is left over.
#[test]
fn loom_global_queue_refuses_nothing_before_all_parts_are_empty() {
    explore(6, || {
        let scheduler = scheduler(1);
        let queue = Arc::new(GlobalQueue::new(16));
        let cancelled = Arc::new(AtomicUsize::new(0));
        let pusher = thread::spawn({
            let (scheduler, queue, cancelled) = (scheduler.clone(), queue.clone(), cancelled.clone());
            move || {
                for (part, earlier) in [(1, 0), (0, 1)] {
                    if let Pushed::Closed(tasks) = queue.push(part, [task(&scheduler, || ())]) {
                        assert_eq!(cancelled.load(SeqCst), earlier, "a task still waits to be cancelled");
                        cancelled.fetch_add(tasks.len(), SeqCst);
                        tasks.into_iter().for_each(cancel);
                    }
                }
            }
        });
        queue.close();
        while let Some(tasks) = queue.condemned() {
            let count = tasks.len();
            tasks.into_iter().for_each(cancel);
            cancelled.fetch_add(count, SeqCst);
        }
        pusher.join().unwrap();
        assert_eq!(cancelled.load(SeqCst), 2);
        assert!(queue.condemned().is_none());
    });
}
