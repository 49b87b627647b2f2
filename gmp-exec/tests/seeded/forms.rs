//! Every form of a runtime works under a seed.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Handle, LocalOptions, Runtime};
use gmp_exec::task::{JoinSet, LocalSet, block_in_place, coop, spawn_blocking, spawn_local};
use gmp_exec::{spawn, time};

use crate::child::run;

pub(crate) fn scenario() {
    handles_on_threads();
    blocking();
    local();
    nested();
    shutdowns();
    a_thread_that_polls_in_a_loop();
}

fn handles_on_threads() {
    let runtime = Runtime::new().unwrap();
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let handle = runtime.handle().clone();
            thread::spawn(move || handle.block_on(async move { spawn(async move { number }).await.unwrap() }))
        })
        .collect();
    assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>(), 3);
    // Without a call of `block_on`.
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        time::sleep(Duration::from_secs(1)).await;
        sender.send(7).unwrap();
    });
    assert_eq!(receiver.recv(), Ok(7));
}

fn blocking() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut closures: JoinSet<u64> = JoinSet::new();
        for number in 0..4 {
            closures.spawn_blocking(move || {
                thread::sleep(Duration::from_secs(number));
                number
            });
        }
        let mut sum = 0;
        while let Some(number) = closures.join_next().await {
            sum += number.unwrap();
        }
        assert_eq!(sum, 6);
        let section = spawn(async {
            block_in_place(|| Handle::current().block_on(async { time::sleep(Duration::from_secs(1)).await }))
        });
        section.await.unwrap();
    });
    let one = Builder::new_current_thread().enable_all().build().unwrap();
    assert_eq!(one.block_on(spawn_in(&one)), 5);
}

async fn spawn_in(_: &Runtime) -> u32 {
    spawn_blocking(|| 5).await.unwrap()
}

fn local() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let shared = Rc::new(1);
    let set = LocalSet::new();
    set.block_on(&runtime, async move {
        let task = spawn_local(async move {
            time::sleep(Duration::from_millis(5)).await;
            *shared
        });
        assert_eq!(task.await.unwrap(), 1);
    });
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    let shared = Rc::new(2);
    assert_eq!(runtime.block_on(runtime.spawn_local(async move { *shared })).unwrap(), 2);
}

fn nested() {
    let outer = Runtime::new().unwrap();
    let inner = outer.spawn_blocking(|| Runtime::new().unwrap().block_on(async { spawn(async { 3 }).await.unwrap() }));
    assert_eq!(outer.block_on(inner).unwrap(), 3);
}

fn shutdowns() {
    for _ in 0..2 {
        let runtime = Runtime::new().unwrap();
        runtime.spawn(std::future::pending::<()>());
        runtime.spawn_blocking(|| thread::sleep(Duration::from_secs(1)));
        runtime.shutdown_timeout(Duration::from_millis(10));
        let runtime = Runtime::new().unwrap();
        runtime.spawn(async { time::sleep(Duration::from_secs(3)).await });
        runtime.shutdown_background();
        let runtime = Runtime::new().unwrap();
        runtime.spawn_blocking(|| thread::sleep(Duration::from_secs(1)));
        drop(runtime);
    }
}

/// Another thread has to have a turn, though nothing here waits.
fn a_thread_that_polls_in_a_loop() {
    let is_done = Arc::new(AtomicBool::new(false));
    let other = thread::spawn({
        let is_done = is_done.clone();
        move || is_done.store(true, SeqCst)
    });
    let mut context = Context::from_waker(Waker::noop());
    while !is_done.load(SeqCst) {
        assert!(coop::poll_proceed(&mut context).is_ready());
    }
    other.join().unwrap();
}

#[test]
fn all_forms_of_a_runtime_work() {
    for seed in 0..20 {
        let run = run("forms", seed);
        assert_eq!((run.field("end"), run.status), ("ok", Some(0)), "seed {seed}: {run:#?}");
    }
}
