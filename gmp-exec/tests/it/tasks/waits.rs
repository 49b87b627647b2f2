//! What a waiting task waits for.

use std::future::{pending, poll_fn};
use std::mem;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::pin::Pin;
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

fn assert_timer(wait: &WaitsFor) {
    let WaitsFor::Timer(left) = wait else { panic!("{wait:?}") };
    // Long timers fire on a coarse grid.
    assert!(*left > LONG / 2 && *left < LONG * 2, "{left:?}");
}

/// The only wait.
fn only(info: &TaskInfo) -> WaitsFor {
    let [wait] = info.waits_for[..] else { panic!("{info:?}") };
    wait
}

#[test]
fn a_timer() {
    info_of(|| async { sleep(LONG).await }, |info| assert_timer(&only(&info)));
}

#[test]
fn a_descriptor() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).unwrap();
    let (listener, client) = (listener.as_raw_fd(), client.into_raw_fd());
    let waits = |note: fn(i32), fd| {
        move || {
            poll_fn(move |_| {
                note(fd);
                Poll::<()>::Pending
            })
        }
    };
    let says = |expected: String| move |info: TaskInfo| assert_eq!(only(&info).to_string(), expected);
    info_of(waits(bridge::wait_readable, client), says(format!("to read from {address} (fd {client})")));
    info_of(waits(bridge::wait_writable, client), says(format!("to write to {address} (fd {client})")));
    info_of(waits(bridge::wait_readable, listener), says(format!("for a connection to {address} (fd {listener})")));
    info_of(waits(bridge::wait_readable, -1), says("for fd -1 to be readable".to_owned()));
}

/// The future of the last poll has waited for two things, that of the poll before for one more.
#[test]
fn all_that_had_to_wait_in_the_last_poll() {
    for runtime in every_runtime() {
        let awaited = runtime.spawn(pending::<()>());
        let id = awaited.id();
        let mut set: JoinSet<()> = JoinSet::new();
        set.spawn_on(pending(), runtime.handle());
        let (mut awaited, mut is_second) = (Some(awaited), false);
        let waits = runtime.spawn(poll_fn(move |cx| {
            assert!(Pin::new(awaited.as_mut().unwrap()).poll(cx).is_pending());
            if !mem::replace(&mut is_second, true) {
                bridge::wait_readable(-1);
                cx.waker().wake_by_ref();
            }
            set.poll_join_next(cx).map(drop)
        }));
        let expected = [WaitsFor::Task(id), WaitsFor::AnyOf(1)];
        wait_until(|| once_it_waits(&runtime, waits.id()).polls == 2);
        let info = once_it_waits(&runtime, waits.id());
        assert_eq!((&info.waits_for[..], info.waits_for_more), (&expected[..], false));
        let json = info.json().to_string();
        assert!(json.ends_with(&format!(r#","waits":[{{"task":{id}}},{{"any_of":1}}]}}"#)), "{json}");
        let groups = runtime.handle().tasks().groups().to_string();
        assert!(groups.contains(&format!(", waits for task {id} and for the only task of a set, ")), "{groups}");
    }
}

#[test]
fn another_task() {
    for runtime in every_runtime() {
        let awaited = runtime.spawn(pending::<()>());
        let id = awaited.id();
        let joins = runtime.spawn(awaited).id();
        assert_eq!(only(&once_it_waits(&runtime, joins)), WaitsFor::Task(id));
    }
}

#[test]
fn a_blocking_closure() {
    let runtime = multi(2).build().unwrap();
    let end = Flag::new();
    let flag = end.clone();
    let joins = runtime.spawn(async move { spawn_blocking(move || wait_until(|| flag.is_set())).await.unwrap() });
    let info = once_it_waits(&runtime, joins.id());
    let WaitsFor::Task(closure) = only(&info) else { panic!("{info:?}") };
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
    info_of(waits, |info| assert_eq!(only(&info), WaitsFor::AnyOf(3)));
}

/// The limited future is polled first.
#[test]
fn what_is_limited_and_then_the_limit() {
    for runtime in every_runtime() {
        let awaited = runtime.spawn(pending::<()>());
        let id = awaited.id();
        let limited = runtime.spawn(async { timeout(LONG, awaited).await }).id();
        let info = once_it_waits(&runtime, limited);
        let [first, limit] = &info.waits_for[..] else { panic!("{info:?}") };
        assert_eq!(*first, WaitsFor::Task(id));
        assert_timer(limit);
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
        assert_eq!(find().unwrap().waits_for, []);
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
