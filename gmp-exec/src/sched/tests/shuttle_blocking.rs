//! Tasks that block their thread until another task has run: the other tasks go on all the same.

use crate::sched::shutdown;
use crate::sched::tests::crowd::{Monitor, explore, runtime, shut_down};
use crate::sched::tests::gate::Gate;
use crate::sync::Arc;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::{AtShutdown, block_in_place, blocking, spawn, spawn_blocking, yield_now};

/// Polls block, so that the machines of all processors are stuck. The processors are taken, and the
/// task for which the polls wait runs.
#[test]
fn shuttle_blocking_polls_are_relieved() {
    explore(|| {
        let runtime = runtime(2);
        let monitor = Monitor::of(&runtime);
        let gate = Gate::default();
        let blocked: Vec<_> = (0..2).map(|_| runtime.spawn(wait(gate.clone()))).collect();
        let opener = runtime.spawn(async move {
            yield_now().await;
            gate.open();
        });
        for task in blocked {
            runtime.block_on(task).unwrap();
        }
        runtime.block_on(opener).unwrap();
        drop(monitor);
        shut_down(runtime);
    });
}

async fn wait(gate: Gate) {
    gate.wait();
}

/// A task that blocks again and again becomes a known hog: its machine hands the processor off
/// before the poll.
#[test]
fn shuttle_blocking_repeatedly() {
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        let gates = [Gate::default(), Gate::default()];
        let blocked = runtime.spawn({
            let gates = gates.clone();
            async move {
                for gate in gates {
                    yield_now().await;
                    gate.wait();
                }
            }
        });
        for gate in gates {
            runtime.block_on(runtime.spawn(async move { gate.open() })).unwrap();
        }
        runtime.block_on(blocked).unwrap();
        drop(monitor);
        shut_down(runtime);
    });
}

/// Two tasks wait for each other by blocking. In many schedules both are hogs that compute, with
/// one permit for both. sysmon grants an extra permit, so that both go on.
#[test]
fn shuttle_blocking_hogs_wait_for_each_other() {
    const ROUNDS: usize = 3;
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        let [mine, theirs] = [(); 2].map(|()| [(); ROUNDS].map(|()| Gate::default()));
        let tasks = [(mine.clone(), theirs.clone()), (theirs, mine)].map(|(open, wait)| {
            runtime.spawn(async move {
                for (open, wait) in open.into_iter().zip(wait) {
                    open.open();
                    wait.wait();
                    yield_now().await;
                }
            })
        });
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        drop(monitor);
        shut_down(runtime);
    });
}

/// Blocking sections, one inside the other, that wait for a task which is spawned inside, after a
/// short section, which has handed off the processor.
#[test]
fn shuttle_blocking_sections() {
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        let sections: Vec<_> = (0..2)
            .map(|_| {
                runtime.spawn(async {
                    let gate = Gate::default();
                    let opened = gate.clone();
                    block_in_place(|| ());
                    block_in_place(|| {
                        spawn(async move { opened.open() });
                        blocking(|| gate.wait());
                    });
                    yield_now().await;
                })
            })
            .collect();
        for task in sections {
            runtime.block_on(task).unwrap();
        }
        drop(monitor);
        shut_down(runtime);
    });
}

/// Closures that wait for each other all run, up to the limit, and the closures beyond it run
/// afterwards.
#[test]
fn shuttle_blocking_closures() {
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        let [ping, pong] = [Gate::default(), Gate::default()];
        let first = runtime.spawn_blocking({
            let [ping, pong] = [ping.clone(), pong.clone()];
            move || {
                ping.open();
                pong.wait();
            }
        });
        let second = runtime.spawn_blocking(move || {
            ping.wait();
            pong.open();
        });
        let third = runtime.spawn(async { spawn_blocking(|| 3).await.unwrap() });
        for task in [first, second] {
            runtime.block_on(task).unwrap();
        }
        assert_eq!(runtime.block_on(third).unwrap(), 3);
        drop(monitor);
        shut_down(runtime);
    });
}

/// Shutdown while polls and closures are blocked: it ends when they end, and nothing is left.
#[test]
fn shuttle_blocking_against_shutdown() {
    explore(|| {
        let runtime = runtime(2);
        let monitor = Monitor::of(&runtime);
        let gate = Gate::default();
        runtime.spawn(wait(gate.clone()));
        runtime.spawn_blocking({
            let gate = gate.clone();
            move || gate.wait()
        });
        runtime.spawn({
            let gate = gate.clone();
            async move { block_in_place(|| gate.wait()) }
        });
        runtime.spawn(async { yield_now().await });
        let opening = shuttle::thread::spawn(move || gate.open());
        shut_down(runtime);
        opening.join().unwrap();
        drop(monitor);
    });
}

/// Closures of every kind are spawned while the runtime ends. A closure that must finish runs,
/// once. The end does not wait for a closure that may be abandoned.
#[test]
fn shuttle_blocking_closures_at_the_end() {
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        let handle = runtime.handle().clone();
        let (stuck, never) = (Gate::default(), Gate::default());
        handle.spawn_blocking_with(AtShutdown::Abandon, {
            let (stuck, never) = (stuck.clone(), never.clone());
            move || {
                stuck.open();
                never.wait();
            }
        });
        stuck.wait();
        let runs = Arc::new(AtomicUsize::new(0));
        let bringing = shuttle::thread::spawn({
            let runs = runs.clone();
            move || {
                for at_shutdown in [AtShutdown::Finish, AtShutdown::Wait, AtShutdown::Finish] {
                    let runs = runs.clone();
                    let must_run = usize::from(at_shutdown == AtShutdown::Finish);
                    handle.spawn_blocking_with(at_shutdown, move || runs.fetch_add(must_run, Relaxed));
                }
            }
        });
        let scheduler = runtime.handle().scheduler().clone();
        shutdown::begin(&scheduler);
        bringing.join().unwrap();
        while runs.load(Relaxed) < 2 || !scheduler.all_machines.awaited().is_empty() {
            shuttle::thread::yield_now();
        }
        never.open();
        // A machine whose closure has ended is awaited again until it has left, and a thread that
        // shuttle does not know would wait for it.
        while !scheduler.all_machines.copy().is_empty() {
            shuttle::thread::yield_now();
        }
        drop(monitor);
        shut_down(runtime);
        assert_eq!(runs.load(Relaxed), 2);
    });
}
