//! What a waiting task waits for.

use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;

use gmp_exec::runtime::{Runtime, TaskInfo, TaskState, WaitsFor};
use gmp_exec::task::{Id, JoinSet, spawn_blocking, yield_now};
use gmp_exec::time::{sleep, timeout};
use gmp_exec::{bridge, spawn};

use crate::support::{Flag, every_runtime, multi, wait_until};

const LONG: Duration = Duration::from_secs(1_000);

/// What is said of a task of every kind of runtime, once it waits.
fn info_of<F: Future + Send + 'static>(future: impl Fn() -> F, check: impl Fn(TaskInfo))
where
    F::Output: Send,
{
    for runtime in every_runtime() {
        let id = runtime.spawn(future()).id();
        check(once_it_waits(&runtime, id));
    }
}

fn once_it_waits(runtime: &Runtime, id: Id) -> TaskInfo {
    let find = || runtime.handle().tasks().find(|task| task.id == id && task.state == TaskState::Waiting);
    // On the current-thread flavour tasks run inside `block_on`.
    wait_until(|| {
        runtime.block_on(yield_now());
        find().is_some()
    });
    find().unwrap()
}

fn assert_timer(wait: Option<WaitsFor>) {
    let Some(WaitsFor::Timer(left)) = wait else { panic!("{wait:?}") };
    // Long timers fire on a coarse grid.
    assert!(left > LONG / 2 && left < LONG * 2, "{left:?}");
}

#[test]
fn a_timer() {
    info_of(|| async { sleep(LONG).await }, |info| assert_timer(info.waits_for));
}

#[test]
fn a_descriptor() {
    let waits = |note: fn(i32)| {
        move || {
            poll_fn(move |_| {
                note(7);
                Poll::<()>::Pending
            })
        }
    };
    info_of(waits(bridge::wait_readable), |info| assert_eq!(info.waits_for, Some(WaitsFor::Readable(7))));
    info_of(waits(bridge::wait_writable), |info| assert_eq!(info.waits_for, Some(WaitsFor::Writable(7))));
}

#[test]
fn another_task() {
    for runtime in every_runtime() {
        let awaited = runtime.spawn(pending::<()>());
        let id = awaited.id();
        let joins = runtime.spawn(awaited).id();
        assert_eq!(once_it_waits(&runtime, joins).waits_for, Some(WaitsFor::Task(id)));
    }
}

#[test]
fn a_blocking_closure() {
    let runtime = multi(2).build().unwrap();
    let end = Flag::new();
    let flag = end.clone();
    let joins = runtime.spawn(async move { spawn_blocking(move || wait_until(|| flag.is_set())).await.unwrap() });
    let info = once_it_waits(&runtime, joins.id());
    let Some(WaitsFor::Task(closure)) = info.waits_for else { panic!("{info:?}") };
    assert!(runtime.handle().tasks().any(|task| task.id == closure && task.is_blocking));
    end.set();
    runtime.block_on(joins).unwrap();
}

#[test]
fn any_task_of_a_set() {
    let waits = || async {
        let mut set: JoinSet<()> = (0..3).map(|_| pending()).collect();
        set.join_next().await
    };
    info_of(waits, |info| assert_eq!(info.waits_for, Some(WaitsFor::AnyOf(3))));
}

/// The limited future is polled first.
#[test]
fn what_is_limited_and_not_the_limit() {
    for runtime in every_runtime() {
        let awaited = runtime.spawn(pending::<()>());
        let id = awaited.id();
        let limited = runtime.spawn(async { timeout(LONG, awaited).await }).id();
        let info = once_it_waits(&runtime, limited);
        assert_eq!((info.waits_for, info.waits_for_more), (Some(WaitsFor::Task(id)), true));
    }
}

/// The timer of an earlier poll says nothing of the last one.
#[test]
fn nothing_is_said_of_a_future_of_another_crate() {
    let waits = || async {
        sleep(Duration::from_millis(1)).await;
        pending::<()>().await;
    };
    for runtime in every_runtime() {
        let id = runtime.spawn(waits()).id();
        let find = || runtime.handle().tasks().find(|task| task.id == id && task.polls == 2);
        wait_until(|| {
            runtime.block_on(yield_now());
            find().is_some_and(|task| task.state == TaskState::Waiting)
        });
        assert_eq!(find().unwrap().waits_for, None);
    }
}

#[test]
fn the_tree_has_a_line_per_task() {
    let runtime = multi(2).build().unwrap();
    let outer = runtime.spawn(async {
        let inner = spawn(async { sleep(LONG).await });
        inner.await.unwrap()
    });
    let tree = || runtime.handle().tasks().tree().to_string();
    wait_until(|| tree().lines().count() == 2 && tree().contains("waits for a timer"));
    let text = tree();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("task {}, spawned at ", outer.id())), "{text}");
    assert!(lines[1].starts_with("  task "), "{text}");
}
