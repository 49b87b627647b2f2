//! Dumps beside a program that goes on.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{JoinSet, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::mpsc;

use crate::support::{FOREVER, Flag, Watchdog, alone, every_runtime, multi, sleep_briefly, wait_until};

/// Every kind of leaf that tasks wait at, all the time.
async fn work() -> u64 {
    let (sender, mut receiver) = mpsc::channel(1);
    let sends = spawn(async move {
        for i in 0..100_u64 {
            sender.send(i).await.unwrap();
            sleep_briefly().await;
        }
    });
    let mut sum = 0;
    while let Some(i) = receiver.recv().await {
        sum += i;
        yield_now().await;
    }
    sends.await.unwrap();
    let mut set: JoinSet<u64> = (0..10)
        .map(|i| async move {
            yield_now().await;
            i
        })
        .collect();
    while let Some(i) = set.join_next().await {
        sum += i.unwrap();
    }
    sum
}

/// Dumps until it is told to end, and sets `found` once a dump has a trace.
fn dumps(runtime: &Runtime, end: &Arc<AtomicBool>, found: &Flag) -> thread::JoinHandle<()> {
    let (handle, end, found) = (runtime.handle().clone(), end.clone(), found.clone());
    thread::spawn(move || {
        while !end.load(SeqCst) {
            let dump = futures::executor::block_on(handle.dump());
            if dump.tasks().iter().any(|task| !task.trace().to_string().is_empty()) {
                found.set();
            }
        }
    })
}

/// A traced poll does nothing and is made up for: no wake-up and no value is lost.
#[test]
fn a_program_computes_the_same_while_it_is_dumped_in_a_loop() {
    let _alone = alone();
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let (end, found) = (Arc::new(AtomicBool::new(false)), Flag::new());
        let dumpers: Vec<_> = (0..2).map(|_| dumps(&runtime, &end, &found)).collect();
        // Tasks of the current-thread flavour are polled inside `block_on` only, so the first ones may be
        // done before the dumpers begin.
        wait_until(|| {
            let tasks: Vec<_> = (0..20).map(|_| runtime.spawn(work())).collect();
            for task in tasks {
                assert_eq!(runtime.block_on(task).unwrap(), 4_950 + 45);
            }
            found.is_set()
        });
        end.store(true, SeqCst);
        dumpers.into_iter().for_each(|dumper| dumper.join().unwrap());
    }
}

#[test]
fn tasks_may_be_aborted_and_the_runtime_may_end_meanwhile() {
    for _ in 0..20 {
        let runtime = multi(2).build().unwrap();
        let end = Arc::new(AtomicBool::new(false));
        let dumper = dumps(&runtime, &end, &Flag::new());
        let tasks: Vec<_> = (0..50).map(|_| runtime.spawn(async { sleep(FOREVER).await })).collect();
        runtime.block_on(yield_now());
        tasks.iter().step_by(2).for_each(|task| task.abort());
        drop(runtime);
        end.store(true, SeqCst);
        dumper.join().unwrap();
    }
}
