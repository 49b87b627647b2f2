//! What tokio-console shows of programs on gmp, without `tokio_unstable`.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use console_tests::{Console, Task, View};
use tokio::runtime::Runtime;
use tokio::task::{spawn, yield_now};
use tokio::time::sleep;
use tracing::{Dispatch, dispatcher};

mod tables;

/// A runtime whose threads, and those that call `block_on`, have the console's subscriber.
fn threads(dispatch: &Dispatch) -> Runtime {
    let dispatch = dispatch.clone();
    let begin = move || std::mem::forget(dispatcher::set_default(&dispatch));
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().on_thread_start(begin).build().unwrap()
}

fn on_one_thread<F: Future<Output = ()>>(future: F) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future);
}

fn only_task(view: &View) -> Task {
    let tasks: Vec<_> = view.tasks().into_iter().filter(|task| task.kind == "task").collect();
    let [task] = &tasks[..] else { panic!("{tasks:#?}") };
    task.clone()
}

#[test]
fn a_task_has_its_name() {
    let (dispatch, mut console) = Console::start();
    dispatcher::with_default(&dispatch, || {
        on_one_thread(async {
            gmp_exec::task::Builder::new().name("has a name").spawn(async {}).unwrap().await.unwrap();
        });
    });
    let task = only_task(console.wait());
    assert_eq!((task.name.as_str(), task.polls, task.has_ended), ("has a name", 2, true));
}

#[test]
fn busy_and_idle_times_are_those_of_the_polls() {
    let (dispatch, mut console) = Console::start();
    dispatcher::with_default(&dispatch, || {
        on_one_thread(async {
            let task = spawn(async {
                std::thread::sleep(Duration::from_millis(50));
                sleep(Duration::from_millis(100)).await;
            });
            task.await.unwrap();
        });
    });
    let task = only_task(console.wait());
    assert_eq!((task.polls, task.wakes, task.self_wakes), (3, 1, 0), "{task:#?}");
    assert!(task.busy >= Duration::from_millis(50) && task.total >= task.busy + Duration::from_millis(95), "{task:#?}");
}

#[test]
fn a_task_that_blocks_its_thread_is_seen_running_while_others_go_on() {
    let (dispatch, mut console) = Console::start();
    let runtime = threads(&dispatch);
    let (unblock, blocked) = mpsc::channel::<()>();
    let blocks = dispatcher::with_default(&dispatch, || {
        runtime.block_on(async {
            spawn(async {
                loop {
                    sleep(Duration::from_millis(1)).await;
                }
            });
            (spawn(async move { blocked.recv().unwrap() }), line!())
        })
    });
    let (blocks, line) = blocks;
    let is_stuck = |view: &View| view.task_of(line).is_some_and(|task| task.polled_for > Duration::from_millis(200));
    let ticks = |view: &View| view.tasks().iter().map(|task| task.polls).max().unwrap();
    let view = console.wait_until(is_stuck);
    let (task, before) = (view.task_of(line).unwrap(), ticks(view));
    assert!(task.is_running && task.polls == 1 && !task.is_lost(), "{task:#?}");
    console.wait_until(|view| ticks(view) > before + 20);
    unblock.send(()).unwrap();
    dispatcher::with_default(&dispatch, || runtime.block_on(blocks).unwrap());
    let task = console.wait().task_of(line).unwrap();
    assert!(task.has_ended && task.busy > Duration::from_millis(200), "{task:#?}");
}

#[test]
fn a_task_that_yields_never_seems_to_be_lost_or_to_wake_itself() {
    let (dispatch, mut console) = Console::start();
    let runtime = threads(&dispatch);
    let is_over = Arc::new(AtomicBool::new(false));
    let ends = is_over.clone();
    let yields = dispatcher::with_default(&dispatch, || {
        runtime.block_on(async {
            spawn(async move {
                while !ends.load(SeqCst) {
                    yield_now().await;
                    // Fewer events than the subscriber has room for.
                    std::thread::sleep(Duration::from_micros(200));
                }
            })
        })
    });
    let (mut looks, mut lost_before) = (0, None);
    console.wait_until(|view| {
        let tasks = view.tasks();
        let mut of_it = tasks.iter().filter(|task| task.kind == "task");
        looks += u32::from(of_it.any(|task| task.polls > 10));
        for task in tasks.iter().filter(|task| task.kind == "task") {
            assert!(task.self_wakes == 0, "{task:#?}");
            // The subscriber does not read a task's numbers at one moment. A task that is lost is
            // so for longer. A task that was never polled looks lost, too, as on tokio.
            let lost = (task.is_lost() && task.polls > 0).then_some(task.polls);
            assert!(lost.is_none() || lost != lost_before, "{task:#?}");
            lost_before = lost;
        }
        looks == 30
    });
    is_over.store(true, SeqCst);
    dispatcher::with_default(&dispatch, || runtime.block_on(yields).unwrap());
    let task = only_task(console.wait());
    assert_eq!((task.wakes + 2, task.wakers), (task.polls, 0), "{task:#?}");
}

#[test]
fn a_task_that_has_lost_its_waker_is_seen() {
    let (dispatch, mut console) = Console::start();
    let runtime = threads(&dispatch);
    dispatcher::with_default(&dispatch, || {
        runtime.block_on(async {
            spawn(poll_fn(|cx| {
                drop(cx.waker().clone());
                Poll::<()>::Pending
            }));
        });
    });
    let view = console
        .wait_until(|view| view.tasks().iter().any(|task| task.kind == "task" && task.polls == 1 && !task.is_running));
    assert!(only_task(view).is_lost());
}
