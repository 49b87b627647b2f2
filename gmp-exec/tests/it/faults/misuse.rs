//! Misuse is refused with tokio's messages, and has no other effect.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use futures::executor;
use gmp_exec::runtime::{Handle, LocalRuntime, Runtime};
use gmp_exec::task::{LocalSet, blocking, spawn_blocking};
use gmp_exec::{spawn, task};

use super::{every_runtime, is_current, message, panic_message};
use crate::support::{Watchdog, current, multi, run, wait_until};

const NESTED: &str = "Cannot start a runtime from within a runtime. This happens because a function (like `block_on`) \
                      attempted to block the current thread while the thread is being used to drive asynchronous tasks. If you are in an async function, use `.await` on the future instead of blocking on it.";
const DROPPED_INSIDE: &str = "Cannot drop a runtime in a context where blocking is not allowed. This happens when a \
                              runtime is dropped from within an asynchronous context.";
const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";

#[test]
fn block_on_inside_a_runtime_is_refused() {
    for runtime in every_runtime() {
        let other = current().build().unwrap();
        let own = runtime.handle().clone();
        runtime.block_on(async {
            assert_eq!(panic_message(|| own.block_on(async {})), NESTED);
            assert_eq!(panic_message(|| other.block_on(async {})), NESTED);
            let task = spawn(async move { panic_message(|| Handle::current().block_on(async {})) });
            assert_eq!(task.await.unwrap(), NESTED);
        });
        // Nothing is left behind: the same threads may block again.
        assert_eq!(runtime.block_on(async { spawn(async { 42 }).await.unwrap() }), 42);
    }
}

/// On the current-thread flavour no other thread would run the tasks that such a `block_on` waits
/// for.
#[test]
fn block_on_in_a_blocking_section_is_refused_on_the_current_thread_flavour_alone() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let own = runtime.handle().clone();
        let elsewhere = multi(1).build().unwrap();
        let nested = move || {
            let task = own.spawn(async { 42 });
            blocking(|| panic_or(|| own.block_on(task).unwrap()))
        };
        let expected = if is_current(&runtime) { Err(NESTED.to_owned()) } else { Ok(42) };
        assert_eq!(run(&runtime, in_task(nested.clone())), expected);
        assert_eq!(runtime.block_on(in_task(nested.clone())), expected);
        assert_eq!(runtime.handle().block_on(in_task(nested.clone())), expected);
        assert_eq!(LocalSet::new().block_on(&runtime, in_task(nested.clone())), expected);
        // The runtime to which the thread belongs decides, not the current runtime.
        let while_entered = nested.clone();
        let entered = elsewhere.handle().clone();
        let task = in_task(move || {
            let _entered = entered.enter();
            while_entered()
        });
        assert_eq!(run(&runtime, task), expected);
        if is_current(&runtime) {
            let local = LocalRuntime::new().unwrap();
            let own = local.handle().clone();
            let section = local.block_on(async { blocking(|| panic_or(|| own.block_on(async { 42 }))) });
            assert_eq!(section, expected);
        }
        // Threads that run no tasks may block.
        assert_eq!(blocking(|| runtime.block_on(async { 42 })), 42);
        let own = runtime.handle().clone();
        let closure = runtime.spawn_blocking(move || blocking(|| own.block_on(async { 42 })));
        assert_eq!(runtime.block_on(closure).unwrap(), 42);
        assert_eq!(runtime.block_on(async { spawn(async { 42 }).await.unwrap() }), 42);
    }
}

async fn in_task<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// The result of `f`, or the message of its panic.
fn panic_or<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| message(&*payload))
}

#[test]
fn a_runtime_dropped_inside_another_one_is_refused() {
    for outer in every_runtime() {
        for inner in every_runtime() {
            let task = inner.spawn(pending::<()>());
            assert_eq!(outer.block_on(async { panic_message(|| drop(inner)) }), DROPPED_INSIDE);
            // The runtime was shut down nevertheless.
            assert!(outer.block_on(task).unwrap_err().is_cancelled());
        }
        let inner = multi(2).build().unwrap();
        let error = outer.block_on(outer.spawn(async move { drop(inner) })).unwrap_err();
        assert_eq!(message(&*error.into_panic()), DROPPED_INSIDE);
    }
}

#[test]
fn a_runtime_dropped_inside_itself_is_refused_and_ends() {
    for processors in [1, 2] {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (start, stop) = (started.clone(), stopped.clone());
        let mut builder = multi(processors);
        builder.on_thread_start(move || _ = start.fetch_add(1, SeqCst));
        builder.on_thread_stop(move || _ = stop.fetch_add(1, SeqCst));
        let runtime = builder.build().unwrap();
        let others: Vec<_> = (0..10).map(|_| runtime.spawn(pending::<()>())).collect();
        let (send, receive) = tokio::sync::oneshot::channel::<Runtime>();
        let task = runtime.spawn(async move { drop(receive.await.unwrap()) });
        send.send(runtime).unwrap();
        let error = executor::block_on(task).unwrap_err();
        assert_eq!(message(&*error.into_panic()), DROPPED_INSIDE);
        for other in others {
            assert!(executor::block_on(other).unwrap_err().is_cancelled());
        }
        wait_until(|| started.load(SeqCst) == stopped.load(SeqCst));
    }
}

#[test]
fn without_a_runtime_there_is_no_current_handle() {
    let error = Handle::try_current().unwrap_err();
    assert!(error.is_missing_context() && !error.is_thread_local_destroyed());
    assert_eq!(error.to_string(), NO_RUNTIME);
    assert_eq!(panic_message(Handle::current), NO_RUNTIME);
    assert_eq!(panic_message(|| spawn(async {})), NO_RUNTIME);
    assert_eq!(panic_message(|| spawn_blocking(|| ())), NO_RUNTIME);
}

#[test]
fn guards_dropped_out_of_order_are_refused() {
    let (one, other) = (current().build().unwrap(), current().build().unwrap());
    // On a thread of its own, because it leaves its context behind.
    thread::scope(|scope| {
        scope.spawn(|| {
            let outer = one.enter();
            let inner = other.enter();
            assert_eq!(Handle::current().id(), other.handle().id());
            let message = panic_message(|| drop(outer));
            assert!(message.starts_with("`EnterGuard` values dropped out of order."), "{message}");
            drop(inner);
        });
    });
    let outer = one.enter();
    {
        let _inner = other.enter();
        assert_eq!(Handle::current().id(), other.handle().id());
    }
    assert_eq!(Handle::current().id(), one.handle().id());
    drop(outer);
    assert!(Handle::try_current().is_err());
}

/// Code that runs between tasks has no task id.
#[test]
fn there_is_no_task_id_outside_of_a_task() {
    for runtime in every_runtime() {
        assert!(runtime.block_on(async { task::try_id() }).is_none());
        assert!(run(&runtime, async { task::try_id() }).is_some());
    }
    assert_eq!(panic_message(task::id), "Can't get a task id when not inside a task");
}

#[test]
fn misuse_panics_with_tokios_words() {
    let runtime = multi(1).build().unwrap();
    let text = panic_message(|| runtime.block_on(async { runtime.block_on(async {}) }));
    assert!(text.starts_with("Cannot start a runtime from within a runtime."), "{text}");
    assert!(text.ends_with("use `.await` on the future instead of blocking on it."), "{text}");
    let text = panic_message(|| runtime.block_on(async { drop(current().build().unwrap()) }));
    assert!(text.starts_with("Cannot drop a runtime in a context where blocking is not allowed."), "{text}");
}
