//! Panics of tasks that shut the runtime or the set down.

use std::any::Any;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;
use std::thread;

use gmp_exec::runtime::{LocalOptions, Runtime, UnhandledPanic};
use gmp_exec::task::{self, LocalSet};

use crate::support::{current, multi};

fn fragile() -> Runtime {
    current().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap()
}

fn message(payload: &(dyn Any + Send)) -> &str {
    match payload.downcast_ref::<String>() {
        Some(text) => text,
        None => payload.downcast_ref::<&str>().unwrap(),
    }
}

fn panic_of<T>(f: impl FnOnce() -> T) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(f)) else { panic!("there was no panic") };
    message(&*payload).to_owned()
}

const OF_RUNTIME: &str = "a spawned task panicked and the runtime is configured to shut down on unhandled panic";
const OF_SET: &str = "a spawned task panicked and the LocalSet is configured to shutdown on unhandled panic";

struct CountDrops(Arc<AtomicUsize>);

impl Drop for CountDrops {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn block_on_panics_and_every_task_is_dropped_unpolled() {
    let runtime = fragile();
    let (drops, polls) = <(Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let guarded = |waits: bool| {
        let (guard, polls) = (CountDrops(drops.clone()), polls.clone());
        async move {
            let _guard = guard;
            polls.fetch_add(1, SeqCst);
            if waits {
                pending::<()>().await;
            }
        }
    };
    let text = panic_of(|| {
        runtime.block_on(async {
            let waits = task::spawn(guarded(true));
            task::yield_now().await;
            assert_eq!(polls.load(SeqCst), 1);
            task::spawn(async { panic!("boom") });
            for _ in 0..10 {
                task::spawn(guarded(false));
            }
            waits.await.unwrap();
        })
    });
    assert_eq!(text, OF_RUNTIME);
    assert_eq!(drops.load(SeqCst), 11);
    assert_eq!(polls.load(SeqCst), 1, "no task is polled after the panic");
    assert_eq!(panic_of(|| runtime.block_on(async {})), OF_RUNTIME, "nor does a later `block_on` run");
}

#[test]
fn a_later_task_is_dropped_at_once() {
    let runtime = fragile();
    runtime.spawn(async { panic!("boom") });
    panic_of(|| runtime.block_on(pending::<()>()));
    let late = runtime.spawn(async {});
    assert!(late.is_finished());
}

#[test]
fn every_thread_in_block_on_panics() {
    let runtime = Arc::new(fragile());
    let (sender, entered) = mpsc::channel();
    let threads = [(); 3].map(|()| {
        let (runtime, sender) = (runtime.clone(), sender.clone());
        thread::spawn(move || {
            runtime.block_on(async {
                sender.send(()).unwrap();
                pending::<()>().await;
            });
        })
    });
    for _ in &threads {
        entered.recv().unwrap();
    }
    runtime.spawn(async { panic!("boom") });
    for thread in threads {
        assert_eq!(message(&*thread.join().unwrap_err()), OF_RUNTIME);
    }
}

#[test]
fn a_closure_that_panics_ends_nothing() {
    let runtime = fragile();
    let closure = runtime.spawn_blocking(|| panic!("boom"));
    assert!(runtime.block_on(closure).unwrap_err().is_panic());
    assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42);
}

#[test]
fn panics_are_ignored_unless_asked_for() {
    for behavior in [None, Some(UnhandledPanic::Ignore)] {
        let mut builder = current();
        if let Some(behavior) = behavior {
            builder.unhandled_panic(behavior);
        }
        let runtime = builder.build().unwrap();
        assert!(runtime.block_on(runtime.spawn(async { panic!("boom") })).unwrap_err().is_panic());
    }
    multi(1).unhandled_panic(UnhandledPanic::Ignore);
    let text = panic_of(|| multi(1).unhandled_panic(UnhandledPanic::ShutdownRuntime).build());
    assert_eq!(text, "UnhandledPanic::ShutdownRuntime is only supported in current thread runtime");
}

#[test]
fn a_set_ends_with_a_panic_of_its_task() {
    let runtime = current().build().unwrap();
    let mut set = LocalSet::new();
    set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let drops = Arc::new(AtomicUsize::new(0));
    let guard = CountDrops(drops.clone());
    set.spawn_local(async move {
        let _guard = guard;
        pending::<()>().await;
    });
    set.spawn_local(async { panic!("boom") });
    assert_eq!(panic_of(|| set.block_on(&runtime, pending::<()>())), OF_SET);
    assert_eq!(drops.load(SeqCst), 1);
    assert_eq!(panic_of(|| set.block_on(&runtime, async {})), OF_SET, "each later poll of the set");
    assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42, "the runtime goes on");
}

#[test]
fn the_setting_of_a_set_comes_before_its_tasks() {
    let mut set = LocalSet::new();
    set.spawn_local(async {});
    let text = panic_of(|| {
        set.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    });
    assert_eq!(text, "Unhandled Panic behavior modified after starting LocalSet");
}

#[test]
fn a_local_runtime_ends_with_any_of_its_tasks() {
    let fragile = || {
        let mut builder = current();
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime).build_local(LocalOptions::default()).unwrap()
    };
    let runtime = fragile();
    runtime.spawn_local(async { panic!("boom") });
    assert_eq!(panic_of(|| runtime.block_on(pending::<()>())), OF_RUNTIME);
    let runtime = fragile();
    runtime.handle().spawn(async { panic!("boom") });
    assert_eq!(panic_of(|| runtime.block_on(pending::<()>())), OF_RUNTIME);
}
