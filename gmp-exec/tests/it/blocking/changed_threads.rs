//! Code that changes its thread changes no other thread. The nice value stands for all that a
//! thread has for itself and hands down to the threads that it starts.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier, LazyLock};
use std::thread::{self, ThreadId};

use gmp_exec::runtime::Runtime;
use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, spawn_blocking, yield_now};
use rustix::process::{getpriority_process, nice};

use crate::futures::join;
use crate::support::{Watchdog, current, in_child, multi, run};

/// More than any of the runtimes has processors.
const TASKS: usize = 20;

/// The nice value before any thread changes its own. The tests themselves may run under `nice`.
static AT_START: LazyLock<i32> = LazyLock::new(|| getpriority_process(None).unwrap());

fn change_this_thread() {
    LazyLock::force(&AT_START);
    nice(5).unwrap();
}

fn is_changed() -> bool {
    getpriority_process(None).unwrap() != *AT_START
}

/// On the multi-thread flavour the tasks that a closure spawns hold their threads until all of them
/// and the closure have met, so that more threads are needed while the closure runs.
#[test]
fn a_closure_that_changes_its_thread_changes_no_poll() {
    in_child("blocking::changed_threads::a_closure_that_changes_its_thread_changes_no_poll", || {
        for (mut builder, others) in [(current(), 0), (multi(1), 4), (multi(2), 4), (multi(8), 4)] {
            let runtime = builder.build().unwrap();
            let changed = Arc::new(AtomicUsize::new(0));
            let counter = changed.clone();
            let _watchdog = Watchdog::of(&runtime);
            runtime.block_on(async move {
                for _ in 0..10 {
                    let closures = (0..8).map(|_| spawn_blocking(change_and_spawn(others, counter.clone())));
                    let closures = closures.collect::<Vec<_>>();
                    join((0..50).map(|_| spawn(look(counter.clone()))).collect()).await;
                    for closure in closures {
                        join(closure.await.unwrap()).await;
                    }
                }
            });
            assert_eq!(changed.load(SeqCst), 0);
        }
    });
}

fn change_and_spawn(others: usize, changed: Arc<AtomicUsize>) -> impl FnOnce() -> Vec<JoinHandle<()>> + Send {
    move || {
        change_this_thread();
        let meeting = Arc::new(Barrier::new(others + 1));
        let meet_and_look = |_| {
            let (meeting, changed) = (meeting.clone(), changed.clone());
            spawn(async move {
                meeting.wait();
                look(changed).await;
            })
        };
        let tasks = (0..others).map(meet_and_look).collect();
        meeting.wait();
        tasks
    }
}

async fn look(changed: Arc<AtomicUsize>) {
    for _ in 0..2 {
        changed.fetch_add(usize::from(is_changed()), SeqCst);
        yield_now().await;
    }
}

#[test]
fn a_poll_that_changes_its_thread_changes_no_other_thread() {
    in_child("blocking::changed_threads::a_poll_that_changes_its_thread_changes_no_other_thread", || {
        for processors in [1, 2, 8] {
            run(&multi(processors).build().unwrap(), async {
                change_this_thread();
                let meeting = Arc::new(Barrier::new(TASKS + 1));
                let others = (0..TASKS).map(|_| spawn(meet(meeting.clone()))).collect();
                meeting.wait();
                assert_unchanged_but(thread::current().id(), others).await;
            });
        }
    });
}

#[test]
fn a_thread_that_spawns_changes_no_thread_of_the_runtime() {
    in_child("blocking::changed_threads::a_thread_that_spawns_changes_no_thread_of_the_runtime", || {
        let runtimes = [1, 2, 8].map(|processors| multi(processors).build().unwrap());
        change_this_thread();
        runtimes.iter().for_each(spawn_tasks_that_meet);
    });
}

fn spawn_tasks_that_meet(runtime: &Runtime) {
    let _watchdog = Watchdog::of(runtime);
    let meeting = Arc::new(Barrier::new(TASKS));
    let tasks = (0..TASKS).map(|_| runtime.spawn(meet(meeting.clone()))).collect();
    runtime.block_on(assert_unchanged_but(thread::current().id(), tasks));
}

/// Holds its thread until all have met, so that each needs one. Returns the thread, and whether it
/// is a changed one.
async fn meet(meeting: Arc<Barrier>) -> (ThreadId, bool) {
    meeting.wait();
    (thread::current().id(), is_changed())
}

async fn assert_unchanged_but(changed: ThreadId, tasks: Vec<JoinHandle<(ThreadId, bool)>>) {
    for task in tasks {
        let (thread, is_changed) = task.await.unwrap();
        assert!(!is_changed || thread == changed, "a thread has inherited from the changed one");
    }
}
