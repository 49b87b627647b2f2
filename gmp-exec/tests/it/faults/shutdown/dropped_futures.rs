//! Every future and every closure is dropped, wherever its task is.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use futures::executor;
use gmp_exec::spawn;
use gmp_exec::task::{spawn_blocking, yield_now};
use gmp_exec::time::sleep;

use super::Counted;
use crate::faults::every_runtime;
use crate::support::{FOREVER, Flag, compute_for, multi, run};

#[test]
fn every_future_is_dropped_at_shutdown_wherever_its_task_is() {
    for _ in 0..20 {
        for runtime in every_runtime() {
            let count = Arc::new(AtomicUsize::new(0));
            let semaphore = Arc::new(tokio::sync::Semaphore::new(0));
            let mut tasks = Vec::new();
            for i in 0..500 {
                let (counted, semaphore) = (Counted::new(&count), semaphore.clone());
                tasks.push(runtime.spawn(async move {
                    let _counted = counted;
                    match i % 6 {
                        0 => pending::<()>().await,
                        1 => sleep(FOREVER).await,
                        2 => drop(semaphore.acquire().await),
                        3 => loop {
                            yield_now().await;
                        },
                        4 => drop(spawn_blocking(|| ()).await),
                        _ => drop(spawn(pending::<()>()).await),
                    }
                }));
                if i == 250 {
                    // Some are waiting and some have never run.
                    run(&runtime, yield_now());
                }
            }
            drop(runtime);
            assert_eq!(count.load(SeqCst), 0);
            for task in tasks {
                executor::block_on(task).map_or_else(|error| assert!(error.is_cancelled()), |()| ());
            }
        }
    }
}

#[test]
fn hogs_and_closures_that_wait_for_their_turn_are_dropped_at_shutdown() {
    let runtime =
        multi(1).max_hogs(1).max_blocking_threads(1).blocking_threshold(Duration::from_millis(1)).build().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let ended = Flag::new();
    for _ in 0..10 {
        let (hog, closure) = (Counted::new(&count), Counted::new(&count));
        let (hogs_end, closures_end) = (ended.clone(), ended.clone());
        runtime.spawn(async move {
            let _hog = hog;
            while !hogs_end.is_set() {
                compute_for(Duration::from_millis(5));
                yield_now().await;
            }
        });
        runtime.spawn_blocking(move || {
            let _closure = closure;
            closures_end.wait();
        });
    }
    run(&runtime, async { sleep(Duration::from_millis(100)).await });
    assert_eq!(count.load(SeqCst), 20);
    ended.set();
    drop(runtime);
    assert_eq!(count.load(SeqCst), 0);
}
