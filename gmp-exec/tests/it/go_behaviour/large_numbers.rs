//! Large numbers, of processors and of tasks.

use std::sync::Arc;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::every_kind;
use crate::futures::join;
use crate::support::{multi, run, wait_until};

/// Go: `TestBigGOMAXPROCS`.
#[test]
fn far_more_processors_than_cores_work() {
    for processors in [64, 256, 1024] {
        let runtime = multi(processors).build().unwrap();
        let sum: u64 = run(&runtime, async move {
            let spawner = |i: u64| async move { join((0..10).map(|j| spawn(async move { i * j })).collect()).await };
            let spawners = (0..processors as u64).map(|i| spawn(spawner(i))).collect();
            join(spawners).await.into_iter().flatten().sum()
        });
        let processors = processors as u64;
        assert_eq!(sum, 45 * processors * (processors - 1) / 2);
    }
}

/// Go: `TestNumGoroutine`.
#[test]
fn the_number_of_tasks_is_exact_when_all_is_quiet() {
    for runtime in every_kind() {
        let stop = Arc::new(tokio::sync::Semaphore::new(0));
        let metrics = runtime.metrics();
        let waiting = |stop: Arc<tokio::sync::Semaphore>| async move { drop(stop.acquire().await) };
        let tasks: Vec<_> = (0..1_000).map(|_| runtime.spawn(waiting(stop.clone()))).collect();
        run(&runtime, async {
            join((0..1_000).map(|_| spawn(yield_now())).collect()).await;
        });
        wait_until(|| metrics.num_alive_tasks() == 1_000);
        stop.add_permits(1_000);
        run(&runtime, join(tasks));
        wait_until(|| metrics.num_alive_tasks() == 0);
    }
}
