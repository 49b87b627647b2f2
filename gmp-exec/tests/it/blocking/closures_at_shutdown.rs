//! A runtime that shuts down abandons a closure, waits for it, or still runs it.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::AtShutdown;

use crate::futures::join;
use crate::support::{Flag, Watchdog, current, every_runtime, in_place, multi};

#[test]
fn the_end_of_a_runtime_does_not_wait_for_an_abandoned_closure() {
    for mut builder in [multi(2), current(), in_place(2)] {
        let runtime = builder.build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let (started, release, ended) = (Flag::new(), Flag::new(), Flag::new());
        runtime.handle().spawn_blocking_with(AtShutdown::Abandon, {
            let (started, release, ended) = (started.clone(), release.clone(), ended.clone());
            move || {
                started.set();
                release.wait();
                ended.set();
            }
        });
        started.wait();
        drop(runtime);
        release.set();
        ended.wait();
    }
}

#[test]
fn a_closure_that_must_finish_runs_although_it_had_not_begun() {
    for mut builder in [multi(1), current(), in_place(1)] {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let release = occupy_a_permit(&runtime);
        let ran = Arc::new(AtomicUsize::new(0));
        let mut handles = Vec::new();
        for _ in 0..10 {
            let ran = ran.clone();
            handles.push(runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || ran.fetch_add(1, SeqCst)));
        }
        let cancelled = runtime.handle().spawn_blocking(|| ());
        runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || release.set());
        drop(runtime);
        assert_eq!(ran.load(SeqCst), 10);
        let other = multi(1).build().unwrap();
        assert_eq!(other.block_on(join(handles)).len(), 10, "their handles have the results");
        assert!(other.block_on(cancelled).unwrap_err().is_cancelled(), "an ordinary closure is cancelled");
    }
}

#[test]
fn shutdown_background_does_not_wait_for_a_closure_that_must_finish() {
    let runtime = multi(1).max_blocking_threads(1).build().unwrap();
    let (release, ended) = (Flag::new(), Flag::new());
    let wait_for = |what: &Flag, then: &Flag| {
        let (what, then) = (what.clone(), then.clone());
        move || {
            what.wait();
            then.set();
        }
    };
    for _ in 0..3 {
        runtime.handle().spawn_blocking_with(AtShutdown::Finish, wait_for(&release, &ended));
    }
    runtime.shutdown_background();
    release.set();
    ended.wait();
}

#[test]
fn an_aborted_closure_does_not_run_even_if_it_should_finish() {
    let runtime = multi(1).max_blocking_threads(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let release = occupy_a_permit(&runtime);
    let ran = Arc::new(AtomicBool::new(false));
    let closure = runtime.handle().spawn_blocking_with(AtShutdown::Finish, {
        let ran = ran.clone();
        move || ran.store(true, SeqCst)
    });
    closure.abort();
    release.set();
    drop(runtime);
    assert!(!ran.load(SeqCst));
}

/// A closure with an abort handle is in the registry, among the tasks that the shutdown aborts.
#[test]
fn a_closure_that_must_finish_runs_although_it_has_an_abort_handle() {
    const CLOSURES: usize = 50;
    for mut builder in [multi(1), current(), in_place(1)] {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let release = occupy_a_permit(&runtime);
        let ran = Arc::new(AtomicUsize::new(0));
        let spawn_counting = || {
            let ran = ran.clone();
            let closure = runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || ran.fetch_add(1, SeqCst));
            closure.abort_handle()
        };
        let abort_handles: Vec<_> = (0..CLOSURES).map(|_| spawn_counting()).collect();
        runtime.handle().spawn_blocking_with(AtShutdown::Finish, move || release.set());
        drop(runtime);
        assert_eq!(ran.load(SeqCst), CLOSURES);
        assert!(abort_handles.iter().all(|handle| handle.is_finished()));
    }
}

/// Runs a closure until the flag is set.
fn occupy_a_permit(runtime: &Runtime) -> Flag {
    let (started, release) = (Flag::new(), Flag::new());
    runtime.handle().spawn_blocking({
        let (started, release) = (started.clone(), release.clone());
        move || {
            started.set();
            release.wait();
        }
    });
    started.wait();
    release
}

#[test]
fn a_closure_with_a_permit_runs_although_the_runtime_ends() {
    for mut builder in [multi(1), multi(2), current(), in_place(1), in_place(2)] {
        let runtime = builder.build().unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..10 {
            let ran = ran.clone();
            runtime.spawn_blocking(move || ran.fetch_add(1, SeqCst));
        }
        drop(runtime);
        assert_eq!(ran.load(SeqCst), 10);
    }
}

#[test]
fn closures_at_the_end_keep_to_the_limit() {
    for mut builder in [multi(1), current(), in_place(1)] {
        let runtime = builder.max_blocking_threads(2).build().unwrap();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..20 {
            let (running, most) = (running.clone(), most.clone());
            runtime.spawn_blocking(move || {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                thread::sleep(Duration::from_millis(1));
                running.fetch_sub(1, SeqCst);
            });
        }
        drop(runtime);
        assert!((1..=2).contains(&most.load(SeqCst)), "{most:?}");
    }
}

#[test]
fn a_closure_that_comes_after_the_end_is_cancelled() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        drop(runtime);
        assert!(handle.is_shut_down());
        let closure = handle.spawn_blocking(|| 42);
        assert!(handle.block_on(closure).unwrap_err().is_cancelled());
    }
}
