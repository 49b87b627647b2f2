//! What the dump says of tasks of `LocalSet`s and local runtimes that hold their thread.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Handle, LocalOptions, Runtime, TaskInfo, TaskState};
use gmp_exec::task::{Id, LocalSet, spawn_local, yield_now};

use crate::support::{Flag, Watchdog, compute_for, current, every_runtime, wait_until};

/// Runs `body` with a flag that is set once the only task that runs is what `is_expected`; returns
/// that task.
fn seen(handle: &Handle, is_expected: fn(&TaskInfo) -> bool, body: impl FnOnce(Flag)) -> TaskInfo {
    let end = Flag::new();
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let find = || handle.tasks().find(|info| info.state == TaskState::Running && is_expected(info));
            let mut found = None;
            wait_until(|| {
                found = find();
                found.is_some()
            });
            end.set();
            found.unwrap()
        });
        body(end.clone());
        watching.join().unwrap()
    })
}

fn is_stuck(info: &TaskInfo) -> bool {
    info.stuck.is_some()
}

fn watched() -> Runtime {
    current().watch_current_thread(true).build().unwrap()
}

/// Runs a task of a set that holds the thread, as the second one.
fn hold(set: &LocalSet, runtime: &Runtime, holds: impl FnOnce() + 'static) -> Id {
    let (first, second) = (set.spawn_local(yield_now()), set.spawn_local(async { holds() }));
    let id = second.id();
    set.block_on(runtime, async {
        first.await.unwrap();
        second.await.unwrap();
    });
    id
}

#[test]
fn a_task_that_sleeps_is_stuck() {
    let runtime = watched();
    let _watchdog = Watchdog::of(&runtime);
    let mut id = None;
    let info = seen(runtime.handle(), is_stuck, |end| id = Some(hold(&LocalSet::new(), &runtime, move || end.wait())));
    assert_eq!((Some(info.id), info.worker, info.location.file()), (id, Some(0), file!()));
    assert!(info.stuck.unwrap() < Duration::from_secs(60), "{info:?}");
}

#[test]
fn a_task_that_computes_is_stuck() {
    let runtime = watched();
    let _watchdog = Watchdog::of(&runtime);
    let mut id = None;
    let info =
        seen(runtime.handle(), is_stuck, |end| id = Some(hold(&LocalSet::new(), &runtime, move || end.busy_wait())));
    assert_eq!((Some(info.id), info.worker), (id, Some(0)));
}

#[test]
fn a_task_of_a_local_runtime_is_stuck() {
    let runtime = current().watch_current_thread(true).build_local(LocalOptions::default()).unwrap();
    let mut id = None;
    let info = seen(runtime.handle(), is_stuck, |end| {
        let task = runtime.spawn_local(async move { end.wait() });
        id = Some(task.id());
        runtime.block_on(task).unwrap();
    });
    assert_eq!((Some(info.id), info.worker), (id, Some(0)));
}

/// The outer task goes on after the inner one, and is found then.
#[test]
fn a_task_that_polls_a_set_of_its_own_is_told_from_the_tasks_of_that_set() {
    let runtime = watched();
    let _watchdog = Watchdog::of(&runtime);
    let (mut inner, mut outer) = (None, None);
    let set = LocalSet::new();
    let of_inner = seen(runtime.handle(), is_stuck, |end| {
        let holds = set.spawn_local(async move {
            let own = LocalSet::new();
            let task = own.spawn_local(async move { end.wait() });
            let id = task.id();
            own.await;
            id
        });
        inner = Some(set.block_on(&runtime, holds).unwrap());
    });
    assert_eq!(Some(of_inner.id), inner);
    let of_outer = seen(runtime.handle(), is_stuck, |end| {
        let holds = set.spawn_local(async move {
            let own = LocalSet::new();
            own.spawn_local(async {});
            let mut own = pin!(own);
            poll_fn(|cx| {
                let ended = own.as_mut().poll(cx);
                assert!(ended.is_ready());
                end.wait();
                Poll::Ready(())
            })
            .await;
        });
        outer = Some(holds.id());
        set.block_on(&runtime, holds).unwrap();
    });
    assert_eq!((Some(of_outer.id), of_outer.worker), (outer, Some(0)));
}

/// Nobody knows how long the task has held the thread.
#[test]
fn a_task_on_a_thread_that_is_not_watched_is_not_stuck() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let info = seen(
            runtime.handle(),
            |info| info.polls == 1 && info.location.file() == file!(),
            |end| {
                let set = LocalSet::new();
                let holds = set.spawn_local(async move {
                    thread::sleep(Duration::from_millis(50));
                    end.wait();
                });
                set.block_on(&runtime, holds).unwrap();
            },
        );
        assert_eq!(info.stuck, None);
    }
}

/// A set polls many tasks within one poll of the future around it.
#[test]
fn short_polls_in_a_row_are_no_long_poll() {
    let runtime = current().watch_current_thread(true).blocking_threshold(LIMIT).build().unwrap();
    let set = LocalSet::new();
    for _ in 0..50 {
        set.spawn_local(async { compute_for(LIMIT / 10) });
    }
    runtime.block_on(set);
    let entries = runtime.handle().blocked_report().entries;
    // On a crowded machine a short poll may take long.
    let computed = |entry: &&gmp_exec::runtime::BlockedEntry| entry.longest > LIMIT * 4;
    assert_eq!(entries.iter().filter(computed).count(), 0, "{entries:?}");
}

const LIMIT: Duration = Duration::from_millis(100);

#[test]
fn tasks_of_a_set_are_reported_by_their_place_and_name() {
    let runtime = watched();
    let set = LocalSet::new();
    let line = line!() + 1;
    let task = set.spawn_local(async { thread::sleep(Duration::from_millis(300)) });
    let id = task.id();
    set.block_on(&runtime, async {
        task.await.unwrap();
        spawn_local(yield_now()).await.unwrap();
    });
    let find = || {
        let entries = runtime.handle().blocked_report().entries;
        entries.into_iter().find(|entry| entry.location.line() == line && entry.under_way == 0)
    };
    wait_until(|| find().is_some());
    let entry = find().unwrap();
    assert_eq!((entry.task, entry.is_root, entry.count), (id, false, 1), "{entry}");
}
