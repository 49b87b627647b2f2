//! The report thread goes to sleep while the thread that it watches wakes up: one of the two
//! notices the other.

use std::time::Duration;

use loom::thread;

use super::queue::Queue;
use super::watch::Watch;
use crate::sched::tests::explore;
use crate::sync::Arc;

#[test]
fn loom_watch_finds_the_watched_thread_awake() {
    explore(3, || {
        let queue = Arc::new(Queue::new());
        let watch = Arc::new(Watch::new(Duration::ZERO));
        let report = {
            let (queue, watch) = (queue.clone(), watch.clone());
            thread::spawn(move || {
                queue.bind();
                while watch.is_parked() {
                    // Without an end, if the call is lost.
                    queue.wait(|| watch.is_parked());
                }
            })
        };
        watch.set_parked(false);
        queue.call();
        report.join().unwrap();
    });
}
