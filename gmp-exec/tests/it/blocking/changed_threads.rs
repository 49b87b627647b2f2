//! Code that changes its thread changes no other thread. The nice value stands for all that a
//! thread has for itself and hands down to the threads that it starts.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread::{self, ThreadId};
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{spawn_blocking, yield_now};
use gmp_exec::{spawn, task};
use rustix::process::{getpriority_process, nice};

use crate::futures::join;
use crate::support::{Flag, Watchdog, current, in_child, multi, run};

const MS: Duration = Duration::from_millis(1);

fn change_this_thread() {
    nice(5).unwrap();
}

fn is_changed() -> bool {
    getpriority_process(None).unwrap() != 0
}

#[test]
fn a_closure_that_changes_its_thread_changes_no_poll() {
    in_child("blocking::changed_threads::a_closure_that_changes_its_thread_changes_no_poll", || {
        for runtime in [current(), multi(1), multi(2), multi(8)].map(|mut builder| builder.build().unwrap()) {
            let changed = Arc::new(AtomicUsize::new(0));
            let counter = changed.clone();
            let _watchdog = Watchdog::of(&runtime);
            runtime.block_on(async move {
                for _ in 0..10 {
                    let closures = (0..8).map(|_| spawn_blocking(change_and_spawn(&counter)));
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

/// The tasks hold their threads, so that more threads are needed while the closure runs.
fn change_and_spawn(changed: &Arc<AtomicUsize>) -> impl FnOnce() -> Vec<task::JoinHandle<()>> + Send + use<> {
    let changed = changed.clone();
    move || {
        change_this_thread();
        let tasks = (0..4).map(|_| spawn(look(changed.clone()))).collect();
        thread::sleep(2 * MS);
        tasks
    }
}

async fn look(changed: Arc<AtomicUsize>) {
    for _ in 0..2 {
        changed.fetch_add(usize::from(is_changed()), SeqCst);
        thread::sleep(MS / 20);
        yield_now().await;
    }
}

/// The poll goes on until tasks have run on other threads, which are started because of it.
#[test]
fn a_poll_that_changes_its_thread_changes_no_other_thread() {
    in_child("blocking::changed_threads::a_poll_that_changes_its_thread_changes_no_other_thread", || {
        for processors in [1, 2, 8] {
            run(&multi(processors).build().unwrap(), async {
                change_this_thread();
                let end = Flag::new();
                let others = (0..20).map(|_| spawn(hold(end.clone()))).collect::<Vec<_>>();
                while others.iter().filter(|other| other.is_finished()).count() < 10 {
                    thread::sleep(MS);
                }
                end.set();
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
        for runtime in runtimes {
            hold_all(&runtime);
        }
    });
}

fn hold_all(runtime: &Runtime) {
    let _watchdog = Watchdog::of(runtime);
    let end = Flag::new();
    let tasks = (0..20).map(|_| runtime.spawn(hold(end.clone()))).collect();
    end.set();
    runtime.block_on(assert_unchanged_but(thread::current().id(), tasks));
}

/// Holds its thread for a while. Returns the thread, and whether it is a changed one.
async fn hold(end: Flag) -> (ThreadId, bool) {
    for _ in 0..20 {
        if !end.is_set() {
            thread::sleep(MS);
        }
    }
    (thread::current().id(), is_changed())
}

async fn assert_unchanged_but(changed: ThreadId, tasks: Vec<task::JoinHandle<(ThreadId, bool)>>) {
    for task in tasks {
        let (thread, is_changed) = task.await.unwrap();
        assert!(!is_changed || thread == changed, "a thread has inherited from the changed one");
    }
}
