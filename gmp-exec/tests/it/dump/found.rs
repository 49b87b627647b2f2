//! Which tasks a dump returns, and the calls that it shows.

use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use gmp_exec::runtime::dump::Task;
use gmp_exec::runtime::{Dump, Handle, LocalRuntime, Runtime, TaskState};
use gmp_exec::task::{Id, LocalSet, yield_now};
use gmp_exec::time::sleep;

use crate::support::{FOREVER, Flag, Hog, Watchdog, current, every_runtime, multi, wait_until};

// The compiler names async functions only with full debug information, so they are told by their
// lines. They are boxed, so that none is inlined into another.
const OUTER: u32 = line!() + 2;
async fn outer(leaf: BoxFuture<'static, ()>) {
    middle(leaf).boxed().await;
}

const MIDDLE: u32 = line!() + 2;
async fn middle(leaf: BoxFuture<'static, ()>) {
    leaf.await;
}

fn asleep() -> BoxFuture<'static, ()> {
    async { sleep(FOREVER).await }.boxed()
}

const BUSY: u32 = line!() + 3;
async fn busy() {
    loop {
        yield_now().await;
    }
}

fn line(line: u32) -> String {
    format!("found.rs:{line}:")
}

fn task(dump: &Dump, id: Id) -> &Task {
    dump.tasks().iter().find(|task| task.id() == id).expect("the task lives")
}

/// The text has the calls, one below the other.
fn assert_calls(text: &str, calls: &[&str]) {
    let mut rest = text;
    for call in calls {
        let (_, below) = rest.split_once(call).unwrap_or_else(|| panic!("no {call} below the others: {text}"));
        rest = below;
    }
    assert!(!text.contains("TaskFuture") && !text.contains("traced::leaf"), "it ends at the task and the leaf: {text}");
}

fn dump(runtime: &Runtime) -> Dump {
    let _watchdog = Watchdog::of(runtime);
    runtime.block_on(runtime.handle().dump())
}

/// A dump in which these tasks have a stack. On a busy computer, a task may not be polled in time.
fn dump_with(runtime: &Runtime, traced: &[Id]) -> Dump {
    let has_stack = |dump: &Dump, id| {
        let task = dump.tasks().iter().find(|task| task.id() == id);
        task.is_some_and(|task| !task.trace().resolve_backtraces().is_empty())
    };
    let mut dump = dump(runtime);
    wait_until(|| {
        let is_complete = traced.iter().all(|id| has_stack(&dump, *id));
        if !is_complete {
            dump = self::dump(runtime);
        }
        is_complete
    });
    dump
}

#[test]
fn calls_are_named_from_the_task_to_the_leaf() {
    for runtime in every_runtime() {
        let waits = runtime.spawn(outer(asleep()));
        let yields = runtime.spawn(outer(busy().boxed()));
        let awaited = waits.id();
        let joins = runtime.spawn(outer(async { drop(waits.await) }.boxed()));
        let dump = dump_with(&runtime, &[awaited, yields.id(), joins.id()]);
        assert_eq!(dump.tasks().iter().count(), 3);
        let text = |id| task(&dump, id).trace().to_string();
        assert_calls(&text(awaited), &[&line(OUTER), &line(MIDDLE), "Sleep"]);
        assert_calls(&text(yields.id()), &[&line(OUTER), &line(MIDDLE), &line(BUSY), "yield_now"]);
        assert_calls(&text(joins.id()), &[&line(OUTER), &line(MIDDLE), "join.rs"]);
        assert!(text(joins.id()).contains("found.rs:"), "{}", text(joins.id()));
    }
}

#[test]
fn each_leaf_of_a_task_is_a_branch() {
    let runtime = current().build().unwrap();
    let id = runtime.spawn(async { futures::join!(outer(asleep()), middle(busy().boxed()).boxed()) }).id();
    let dump = dump_with(&runtime, &[id]);
    let trace = task(&dump, id).trace();
    assert_eq!(trace.resolve_backtraces().len(), 2);
    assert_calls(&trace.to_string(), &["├╼", "Sleep", "└╼", &line(BUSY)]);
}

#[test]
fn a_task_of_a_local_set_is_traced_on_its_thread() {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let set = LocalSet::new();
    let id = set.spawn_local(outer(asleep())).id();
    let mut text = String::new();
    wait_until(|| {
        let dump = set.block_on(&runtime, async { Handle::current().dump().await });
        text = task(&dump, id).trace().to_string();
        !text.starts_with("no stack")
    });
    assert_calls(&text, &[&line(OUTER), "Sleep"]);
}

/// Nobody polls the runtime, so nobody else may: its tasks are not `Send`.
#[test]
fn a_task_that_nobody_polls_has_no_stack() {
    let local = LocalRuntime::new().unwrap();
    let id = local.spawn_local(outer(asleep())).id();
    let handle = local.handle().clone();
    let other = std::thread::spawn(move || {
        let dump = futures::executor::block_on(handle.dump());
        let task = task(&dump, id);
        assert_eq!(task.info().polls, 0);
        task.trace().to_string()
    });
    let text = other.join().unwrap();
    assert!(text.starts_with("no stack: scheduled, task spawned at ") && text.contains("found.rs:"), "{text}");
}

#[test]
fn a_task_that_holds_its_thread_has_no_stack_and_delays_no_other() {
    for hog in [Hog::Blocks, Hog::Computes] {
        let runtime = multi(1).build().unwrap();
        let (begun, end) = (Flag::new(), Flag::new());
        let stuck = {
            let (begun, end) = (begun.clone(), end.clone());
            runtime.spawn(async move {
                begun.set();
                hog.hold_on_until(|| end.is_set());
            })
        };
        begun.wait();
        let waits = runtime.spawn(outer(asleep()));
        wait_until(|| runtime.handle().tasks().any(|task| task.state == TaskState::Waiting));
        let dump = dump_with(&runtime, &[waits.id()]);
        assert_calls(&task(&dump, waits.id()).trace().to_string(), &[&line(OUTER), "Sleep"]);
        let text = task(&dump, stuck.id()).trace().to_string();
        assert!(text.starts_with("no stack: running"), "{text}");
        assert!(task(&dump, stuck.id()).trace().resolve_backtraces().is_empty());
        end.set();
        runtime.block_on(stuck).unwrap();
    }
}

#[test]
fn a_future_of_another_crate_has_no_stack() {
    for runtime in every_runtime() {
        let id = runtime.spawn(pending::<()>()).id();
        wait_until(|| dump(&runtime).tasks().iter().any(|task| task.id() == id));
        let dump = dump(&runtime);
        let text = task(&dump, id).trace().to_string();
        assert!(text.starts_with("no stack: ") && text.contains("spawned at"), "{text}");
    }
}

/// The task ends in the very poll that is traced, and before the list is made.
#[test]
fn a_task_that_has_ended_is_not_returned() {
    for runtime in every_runtime() {
        let ends = runtime.spawn(poll_fn(|cx| {
            if Handle::is_tracing() {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
        let id = ends.id();
        wait_until(|| dump(&runtime).tasks().iter().all(|task| task.id() != id));
        runtime.block_on(ends).unwrap();
    }
}

#[test]
fn closures_are_no_tasks() {
    let runtime = multi(2).build().unwrap();
    let end = Flag::new();
    let closure = {
        let end = end.clone();
        runtime.spawn_blocking(move || end.wait())
    };
    assert_eq!(dump(&runtime).tasks().iter().count(), 0);
    end.set();
    runtime.block_on(closure).unwrap();
}

/// The flag that the dump leaves behind costs one more poll and no more.
#[test]
fn a_dump_that_gives_up_leaves_the_task_as_it_was() {
    let runtime = multi(1).build().unwrap();
    let (begun, end) = (Flag::new(), Flag::new());
    let task = {
        let (begun, end) = (begun.clone(), end.clone());
        runtime.spawn(async move {
            sleep(Duration::from_micros(1)).await;
            begun.set();
            end.wait();
            sleep(Duration::from_millis(1)).await;
            7
        })
    };
    begun.wait();
    dump(&runtime);
    end.set();
    assert_eq!(runtime.block_on(task).unwrap(), 7);
}
