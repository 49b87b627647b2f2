//! tokio-metrics without `tokio_unstable`: metrics of a runtime's workers and of a task's polls.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio_metrics::{RuntimeMonitor, TaskMonitor};

use crate::support::on_gmp;

#[test]
fn a_monitor_counts_what_its_tasks_did() {
    const TASKS: u64 = 10;
    on_gmp(|| async {
        let monitor = TaskMonitor::with_slow_poll_threshold(Duration::from_millis(5));
        let wake = Arc::new(Notify::new());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..TASKS {
            let wake = wake.clone();
            tasks.spawn(monitor.instrument(async move {
                wake.notified().await;
                std::thread::sleep(Duration::from_millis(10));
            }));
        }
        // A task counts as idle only if it is woken after a poll, not during it: every first poll
        // must have been counted, which happens at its end.
        while monitor.cumulative().total_poll_count < TASKS {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        wake.notify_waiters();
        tasks.join_all().await;
        let metrics = monitor.cumulative();
        assert_eq!((metrics.instrumented_count, metrics.first_poll_count), (TASKS, TASKS));
        assert_eq!(metrics.total_idled_count, TASKS, "each waited once");
        assert!(metrics.total_poll_count >= 2 * TASKS, "{metrics:?}");
        assert!(metrics.total_slow_poll_count >= TASKS, "{metrics:?}");
        assert!(metrics.total_slow_poll_duration >= Duration::from_millis(10) * TASKS as u32, "{metrics:?}");
    });
}

#[test]
fn a_runtime_tells_what_its_workers_do() {
    on_gmp(|| async {
        let monitor = RuntimeMonitor::new(&Handle::current());
        let mut intervals = monitor.intervals();
        intervals.next().expect("endless");
        let metrics = Handle::current().metrics();
        let parks = metrics.worker_park_count(0);
        let waiting: Vec<_> = (0..7).map(|_| tokio::spawn(std::future::pending::<()>())).collect();
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // On a busy machine each sleep may end before the worker parks.
        while metrics.worker_park_count(0) == parks {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let interval = intervals.next().expect("endless");
        assert_eq!(interval.workers_count, 1);
        assert!(interval.live_tasks_count >= waiting.len(), "{interval:?}");
        assert!(interval.total_park_count > 0, "{interval:?}");
        assert!(interval.elapsed >= Duration::from_millis(10), "{interval:?}");
    });
}
