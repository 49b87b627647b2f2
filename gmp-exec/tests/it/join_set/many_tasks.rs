//! Many tasks on many threads: each is joined once, and joining does not delay other tasks.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gmp_exec::runtime::Builder;
use gmp_exec::task::{AbortHandle, JoinSet, yield_now};

use super::wait_until;
use crate::futures::soon;

#[gmp_exec::test]
async fn joining_many_finished_tasks_lets_other_tasks_run() {
    let mut set = JoinSet::new();
    let tasks: Vec<_> = (0..1_000).map(|_| set.spawn(ready(()))).collect();
    wait_until(|| tasks.iter().all(AbortHandle::is_finished)).await;
    let others = Arc::new(AtomicUsize::new(0));
    let mut other_tasks = JoinSet::new();
    let count = Arc::clone(&others);
    other_tasks.spawn(async move {
        loop {
            count.fetch_add(1, Ordering::SeqCst);
            yield_now().await;
        }
    });

    let joined = gmp_exec::spawn(async move {
        while let Some(result) = set.join_next().await {
            result.unwrap();
        }
    });
    soon(joined).await.unwrap();
    assert!(others.load(Ordering::SeqCst) >= 1_000 / 128, "{others:?}");
}

#[test]
fn no_task_is_lost_among_many_threads() {
    for processors in [1, 2, 8] {
        let runtime = Builder::new_multi_thread().worker_threads(processors).enable_time().build().unwrap();
        let joined = runtime.spawn(spawn_and_join_many());
        assert_eq!(runtime.block_on(soon(joined)).unwrap(), (0..10_000).sum::<u64>());
    }
}

async fn spawn_and_join_many() -> u64 {
    let mut set = JoinSet::new();
    let mut sum = 0;
    for round in 0..200_u64 {
        for number in 0..50_u64 {
            set.spawn(async move {
                for _ in 0..number % 4 {
                    yield_now().await;
                }
                round * 50 + number
            });
        }
        for _ in 0..40 {
            sum += set.join_next().await.unwrap().unwrap();
        }
    }
    while let Some(output) = set.join_next().await {
        sum += output.unwrap();
    }
    sum
}

/// The last use of a task, of its handle, of its abort handle and of the set come in any order.
#[test]
fn tasks_that_are_aborted_while_they_finish_are_joined_once() {
    for processors in [1, 2, 8] {
        let runtime = Builder::new_multi_thread().worker_threads(processors).enable_time().build().unwrap();
        let joined = runtime.spawn(async {
            let mut joined = 0;
            for round in 0..300 {
                let mut set = JoinSet::new();
                let mut tasks: Vec<_> = (0..20).map(|_| set.spawn(yield_now())).collect();
                let aborter = gmp_exec::spawn(async move {
                    tasks.rotate_left(round % 20);
                    tasks.iter().for_each(AbortHandle::abort);
                    tasks
                });
                while let Some(result) = set.join_next().await {
                    assert!(result.is_ok() || result.is_err_and(|error| error.is_cancelled()));
                    joined += 1;
                }
                assert!(aborter.await.unwrap().iter().all(AbortHandle::is_finished));
            }
            joined
        });
        assert_eq!(runtime.block_on(soon(joined)).unwrap(), 300 * 20);
    }
}

#[test]
fn a_set_is_send_and_sync_if_its_outputs_are_send() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<JoinSet<std::cell::Cell<u8>>>();
}
