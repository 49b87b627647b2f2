//! What is said of a lost task, and when.

use std::future::{Future, pending, poll_fn};
use std::task::{Poll, Waker};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use gmp_exec::runtime::{Handle, Leaks, WaitsFor};
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, JoinSet, spawn_blocking, yield_now};

use super::{lost_at_rest, observing_runtimes};
use crate::support::{Flag, Watchdog, current, wait_until};

fn lost_ids() -> Vec<gmp_exec::task::Id> {
    Handle::current().lost_tasks().tasks.iter().map(|task| task.id).collect()
}

#[test]
fn a_lost_task_is_described() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let line = line!() + 1;
            let task = spawn(async {
                yield_now().await;
                pending::<()>().await;
            });
            let lost = lost_at_rest(1).await;
            assert_eq!(lost.len(), 1, "{lost:?}");
            assert_eq!((lost[0].id, lost[0].polls), (task.id(), 2));
            assert_eq!((lost[0].location.file(), lost[0].location.line()), (file!(), line));
            assert_eq!(lost[0].waits_for, []);
            let text = Handle::current().lost_tasks().to_string();
            assert!(text.starts_with("1 task can never run again\n  task "), "{text}");
            assert!(text.ends_with(": no waker is left after 2 polls\n"), "{text}");
        });
    }
}

/// Also in a `JoinSet`, which would end the task before the runtime could report it.
#[test]
fn the_dump_of_a_running_program_names_lost_tasks() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let mut set = JoinSet::new();
            let lost = set.spawn(pending::<()>()).id();
            let (_sender, receiver) = tokio::sync::oneshot::channel::<()>();
            let live = set.spawn(async { drop(receiver.await) }).id();
            lost_at_rest(1).await;
            let info = |id| Handle::current().tasks().find(|info| info.id == id).unwrap();
            assert_eq!((info(lost).is_lost, info(live).is_lost), (true, false));
            assert!(info(lost).json().to_string().ends_with(r#","lost":true}"#), "{}", info(lost).json());
            let text = Handle::current().tasks().groups().to_string();
            assert_eq!(text.matches(", can never run again: no waker is left, age ").count(), 1, "{text}");
        });
    }
}

/// As `main` that waits for a task of a `JoinSet`.
#[test]
fn the_future_of_block_on_says_what_it_waits_for() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let handle = runtime.handle().clone();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let looks = std::thread::spawn(move || {
            let roots = || handle.tasks().groups().roots;
            wait_until(|| roots().iter().any(|root| !root.waits_for.is_empty()));
            let seen = (roots(), handle.tasks().groups().to_string());
            sender.send(()).unwrap();
            seen
        });
        let line = line!() + 1;
        let id = runtime.block_on(async {
            let task = spawn(async { receiver.await.unwrap() });
            let id = task.id();
            task.await.unwrap();
            id
        });
        let (roots, text) = looks.join().unwrap();
        let [root] = &roots[..] else { panic!("{roots:?}") };
        assert_eq!((root.location.file(), root.location.line()), (file!(), line));
        assert_eq!(root.waits_for, [WaitsFor::Task(id)]);
        let expected = format!("  future of block_on at {}:{line} waiting, waits for task {id}\n", file!());
        assert!(text.contains(&expected), "{text}");
        assert!(runtime.handle().tasks().groups().roots.is_empty(), "it has ended");
    }
}

#[test]
fn a_task_that_awaits_a_lost_one_is_lost_as_well() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let last = spawn(pending::<()>());
            let last_id = last.id();
            let first = spawn(async { _ = last.await });
            let lost = lost_at_rest(2).await;
            let of = |id| lost.iter().find(|task| task.id == id).unwrap_or_else(|| panic!("{id} is not in {lost:?}"));
            assert_eq!(lost.len(), 2);
            assert_eq!(of(last_id).waits_for, []);
            assert_eq!(of(first.id()).waits_for, [last_id]);
        });
    }
}

/// Each handle is polled in turn by one task; the second one could be ready first.
#[test]
fn a_task_that_awaits_a_lost_task_or_a_live_one_is_not_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
            let (lost, live) = (spawn(pending::<()>()), spawn(async { receiver.await.unwrap() }));
            let lost_id = lost.id();
            let either = spawn(async { _ = futures::future::select(lost, live).await });
            assert_eq!(lost_at_rest(1).await.iter().map(|task| task.id).collect::<Vec<_>>(), [lost_id]);
            sender.send(()).unwrap();
            either.await.unwrap();
        });
    }
}

#[test]
fn a_lost_task_that_is_aborted_ends_and_wakes_the_one_that_awaits_it() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let lost = spawn(pending::<()>());
            let abort = lost.abort_handle();
            let waiting = spawn(async { lost.await.unwrap_err().is_cancelled() });
            assert_eq!(lost_at_rest(2).await.len(), 2);
            abort.abort();
            assert!(waiting.await.unwrap());
            while !lost_ids().is_empty() {
                yield_now().await;
            }
        });
    }
}

/// The waker is on a thread that the runtime knows nothing of.
#[test]
fn a_waker_anywhere_in_the_process_keeps_its_task_from_being_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let (give, take) = std::sync::mpsc::channel::<Waker>();
            let mut polled = false;
            let task = spawn(poll_fn(move |cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                give.send(cx.waker().clone()).unwrap();
                Poll::Pending
            }));
            assert_eq!(lost_at_rest(0).await, []);
            let go = Flag::new();
            let thread = std::thread::spawn({
                let go = go.clone();
                move || {
                    let waker = take.recv().unwrap();
                    go.wait();
                    waker.wake();
                }
            });
            assert_eq!(lost_at_rest(0).await, []);
            go.set();
            task.await.unwrap();
            thread.join().unwrap();
        });
    }
}

#[test]
fn a_waker_that_is_dropped_unused_leaves_a_lost_task() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let (give, take) = std::sync::mpsc::channel::<Waker>();
            let task = spawn(poll_fn(move |cx| -> Poll<()> {
                give.send(cx.waker().clone()).unwrap();
                Poll::Pending
            }));
            assert_eq!(lost_at_rest(0).await, []);
            drop(take.recv().unwrap());
            assert_eq!(lost_at_rest(1).await.iter().map(|task| task.id).collect::<Vec<_>>(), [task.id()]);
        });
    }
}

/// Each handle has a waker of `FuturesUnordered`, through which any thread could wake the task.
#[test]
fn a_task_that_awaits_through_another_waker_counts_as_reachable() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let last = spawn(pending::<()>());
            let last_id = last.id();
            spawn(async { _ = [last].into_iter().collect::<FuturesUnordered<_>>().next().await });
            let lost = lost_at_rest(1).await;
            assert_eq!(lost.iter().map(|task| task.id).collect::<Vec<_>>(), [last_id]);
        });
    }
}

#[test]
fn closures_are_not_observed() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let (go, began) = (Flag::new(), Flag::new());
            let closure = spawn_blocking({
                let (go, began) = (go.clone(), began.clone());
                move || {
                    began.set();
                    go.wait();
                }
            });
            began.wait();
            assert_eq!(lost_at_rest(0).await, []);
            go.set();
            closure.await.unwrap();
        });
    }
}

#[test]
fn nothing_is_found_where_wakers_are_not_counted() {
    let runtime = current().leaks(Leaks::Off).build().unwrap();
    let task: JoinHandle<()> = runtime.spawn(pending());
    runtime.block_on(async {
        assert_eq!(lost_at_rest(0).await, []);
    });
    assert_eq!(runtime.handle().lost_tasks().to_string(), "");
    drop(task);
}

/// A `JoinHandle` sees the same waker at each poll of its task, and wakes it once.
#[test]
fn an_observed_task_keeps_its_waker_from_poll_to_poll() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let task = runtime.spawn(async {
            let mut wakers: Vec<Waker> = Vec::new();
            for _ in 0..3 {
                wakers.push(poll_fn(|cx| Poll::Ready(cx.waker().clone())).await);
                yield_now().await;
            }
            let mut inner = Box::pin(async { spawn(async { 7 }).await.unwrap() });
            let seven = poll_fn(|cx| inner.as_mut().poll(cx)).await;
            (wakers.iter().all(|waker| waker.will_wake(&wakers[0])), seven)
        });
        assert_eq!(runtime.block_on(task).unwrap(), (true, 7));
    }
}
