//! When a runtime has been dropped, its threads have ended, and not only finished their tasks.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::{AtShutdown, spawn_blocking, spawn_blocking_with};

use super::Counted;
use crate::faults::{every_kind, is_current};
use crate::support::{FOREVER, Flag, PATIENCE, Watchdog, current, in_child, run, wait_until};

const REPETITIONS: usize = 500;

thread_local! {
    /// Dropped when the thread has nothing more to do.
    static LAST: Cell<Option<Counted>> = const { Cell::new(None) };

    /// The same, but its destructor is slow.
    static SLOW: RefCell<Option<Slow>> = const { RefCell::new(None) };

    static RUNTIME: Cell<Option<Runtime>> = const { Cell::new(None) };
}

/// Its destructor waits.
struct Slow {
    begun: Flag,
    end: Flag,
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.begun.set();
        self.end.wait();
    }
}

/// Stores a value in a thread-local of a task's thread, and of a closure's thread. On the
/// current-thread flavour tasks run on the thread of the test, which does not end.
fn leave_something(runtime: &Runtime, alive: &Arc<AtomicUsize>) {
    let visit = |alive: &Arc<AtomicUsize>| {
        let something = Counted::new(alive);
        move || LAST.set(Some(something))
    };
    let closure = runtime.spawn_blocking(visit(alive));
    let task = (!is_current(runtime)).then(|| visit(alive)).map(|visit| runtime.spawn(async { visit() }));
    run(runtime, async {
        closure.await.unwrap();
        if let Some(task) = task {
            task.await.unwrap();
        }
    });
}

#[test]
fn thread_locals_are_destroyed_when_a_runtime_has_been_dropped() {
    for runtime_kind in every_kind().iter_mut() {
        let alive = Arc::new(AtomicUsize::new(0));
        for _ in 0..REPETITIONS {
            let runtime = runtime_kind.build().unwrap();
            leave_something(&runtime, &alive);
            drop(runtime);
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

/// This includes surplus threads that end at that moment.
#[test]
fn threads_that_left_early_are_gone_when_a_runtime_has_been_dropped() {
    for runtime_kind in every_kind().iter_mut() {
        let alive = Arc::new(AtomicUsize::new(0));
        runtime_kind.thread_keep_alive(Duration::ZERO);
        for _ in 0..REPETITIONS {
            let runtime = runtime_kind.build().unwrap();
            leave_something(&runtime, &alive);
            leave_something(&runtime, &alive);
            drop(runtime);
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn the_scheduler_is_freed_when_a_runtime_has_been_dropped() {
    for kind in 0..every_kind().len() {
        for _ in 0..REPETITIONS {
            let captured = Arc::new(());
            let freed = Arc::downgrade(&captured);
            let runtime = {
                let mut builder = every_kind().swap_remove(kind);
                builder.on_thread_stop(move || _ = Arc::strong_count(&captured)).build().unwrap()
            };
            run(&runtime, async { spawn_blocking(|| ()).await.unwrap() });
            drop(runtime);
            assert!(freed.upgrade().is_none());
        }
    }
}

/// In its own process, because the runtimes of other tests have threads of the same names.
#[test]
#[cfg(target_os = "linux")]
fn no_thread_is_left_when_a_runtime_has_been_dropped() {
    in_child("faults::shutdown::joining::no_thread_is_left_when_a_runtime_has_been_dropped", || {
        for runtime_kind in every_kind().iter_mut() {
            runtime_kind.thread_name("gmp-machine");
            for _ in 0..20 {
                let runtime = runtime_kind.build().unwrap();
                run(&runtime, async { spawn_blocking(|| ()).await.unwrap() });
                // The kernel's list breaks off where a thread ends while it is read, such as the
                // watchdog of `run`.
                wait_until(|| threads_of_gmp() > 0);
                drop(runtime);
                // A thread has ended for its joiner a moment before the kernel removes it from this
                // list.
                wait_until(|| threads_of_gmp() == 0);
            }
        }
    });
}

#[cfg(target_os = "linux")]
fn threads_of_gmp() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let name =
        |thread: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok();
    threads.filter_map(name).filter(|name| name.starts_with("gmp-")).count()
}

/// A thread that is never joined keeps its stack.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_come_and_go_leave_nothing_behind() {
    in_child("faults::shutdown::joining::threads_that_come_and_go_leave_nothing_behind", || {
        let started = Arc::new(AtomicUsize::new(0));
        let count = started.clone();
        let mut builder = current();
        builder.thread_keep_alive(Duration::ZERO).on_thread_start(move || _ = count.fetch_add(1, SeqCst));
        let runtime = builder.build().unwrap();
        let one_more = || {
            let before = started.load(SeqCst);
            while started.load(SeqCst) == before {
                runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
            }
        };
        (0..100).for_each(|_| one_more());
        let before = mapped_pages();
        (0..2_000).for_each(|_| one_more());
        // The memory of most of their stacks, of 2 MiB each; the allocator reserves some memory for
        // threads, too.
        assert!(mapped_pages() < before + 1_500 * 512, "{} pages more", mapped_pages() - before);
    });
}

#[cfg(target_os = "linux")]
fn mapped_pages() -> usize {
    let sizes = std::fs::read_to_string("/proc/self/statm").unwrap();
    sizes.split(' ').next().unwrap().parse().unwrap()
}

/// A runtime with a thread that has no more work, but can't end before `end` is set.
fn with_slow_thread(builder: &mut Builder, end: &Flag) -> (Runtime, Flag) {
    let runtime = builder.thread_keep_alive(FOREVER).build().unwrap();
    let begun = Flag::new();
    let slow = Slow { begun: begun.clone(), end: end.clone() };
    run(&runtime, async { spawn_blocking(|| SLOW.set(Some(slow))).await.unwrap() });
    (runtime, begun)
}

#[test]
fn dropping_a_runtime_waits_for_destructors_of_thread_locals() {
    for runtime_kind in every_kind().iter_mut() {
        let end = Flag::new();
        let (runtime, begun) = with_slow_thread(runtime_kind, &end);
        let dropped = Flag::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                drop(runtime);
                assert!(end.is_set());
                dropped.set();
            });
            begun.wait();
            // The drop would be over by now if it did not wait.
            assert!(!dropped.wait_for(Duration::from_millis(5)));
            end.set();
        });
    }
}

#[test]
fn shutdown_timeout_joins_no_longer_than_its_limit() {
    for runtime_kind in every_kind().iter_mut() {
        let end = Flag::new();
        let (runtime, begun) = with_slow_thread(runtime_kind, &end);
        let start = Instant::now();
        runtime.shutdown_timeout(Duration::from_millis(20));
        assert!(start.elapsed() >= Duration::from_millis(20));
        begun.wait();
        end.set();
    }
}

#[test]
fn shutdown_timeout_joins_while_it_has_time() {
    for runtime_kind in every_kind().iter_mut() {
        let alive = Arc::new(AtomicUsize::new(0));
        for _ in 0..REPETITIONS / 5 {
            let runtime = runtime_kind.build().unwrap();
            leave_something(&runtime, &alive);
            let start = Instant::now();
            runtime.shutdown_timeout(FOREVER);
            assert!(start.elapsed() < PATIENCE);
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn a_stuck_closure_is_waited_for_no_longer_than_the_limit_and_not_at_all_if_it_may_be_abandoned() {
    for runtime_kind in every_kind().iter_mut() {
        for at_shutdown in [AtShutdown::Wait, AtShutdown::Finish, AtShutdown::Abandon] {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let (is_begun, may_end) = (begun.clone(), end.clone());
            let entered = runtime.enter();
            spawn_blocking_with(at_shutdown, move || {
                is_begun.set();
                may_end.wait();
            });
            drop(entered);
            begun.wait();
            if at_shutdown == AtShutdown::Abandon {
                let _watchdog = Watchdog::new();
                drop(runtime);
            } else {
                runtime.shutdown_timeout(Duration::from_millis(20));
            }
            end.set();
        }
    }
}

/// A thread may drop its own runtime at its end. It can't wait for its own end, nor for that of
/// other threads, which may wait for it.
#[test]
fn a_runtime_may_be_dropped_by_a_thread_of_its_own_that_ends() {
    in_child("faults::shutdown::joining::a_runtime_may_be_dropped_by_a_thread_of_its_own_that_ends", || {
        for _ in 0..REPETITIONS {
            let _watchdog = Watchdog::new();
            let captured = Arc::new(());
            let freed = Arc::downgrade(&captured);
            let hook = move || _ = Arc::strong_count(&captured);
            let runtime = current().thread_keep_alive(Duration::ZERO).on_thread_stop(hook).build().unwrap();
            let handle = runtime.handle().clone();
            let others: Vec<_> = (0..4).map(|_| handle.spawn_blocking(|| ())).collect();
            drop(handle.spawn_blocking(move || RUNTIME.set(Some(runtime))));
            drop((handle, others));
            wait_until(|| freed.upgrade().is_none());
        }
    });
}
