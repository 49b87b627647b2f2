//! The end of the runtime, at any moment, whatever goes on.

use super::{every_kind, every_runtime, is_current, panic_message};
use crate::go_behaviour::FakeNetpoll;
use crate::support::{FOREVER, Flag, PATIENCE, Watchdog, compute_for, multi, run, wait_until};
use futures::executor;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{JoinHandle, block_in_place, spawn_blocking, yield_now};
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};
use rustix::time::{ClockId, clock_gettime};
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn what_is_spawned_after_shutdown_is_cancelled() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        drop(runtime);
        assert!(executor::block_on(handle.spawn(async { 42 })).unwrap_err().is_cancelled());
        assert!(executor::block_on(handle.spawn_blocking(|| 42)).unwrap_err().is_cancelled());
        assert_eq!(handle.block_on(async { 42 }), 42);
        assert!(handle.block_on(async { spawn(async { 42 }).await }).unwrap_err().is_cancelled());
        let sleeping = panic_message(|| handle.block_on(async { sleep(Duration::from_millis(1)).await }));
        assert_eq!(sleeping, "A Tokio 1.x context was found, but it is being shutdown.");
    }
}

/// Holds on to a thread until the flag is set, having said that it has begun.
fn hold(begun: &Flag, end: &Flag) -> impl FnOnce() + Send + 'static + use<> {
    let (begun, end) = (begun.clone(), end.clone());
    move || {
        begun.set();
        end.wait();
    }
}

/// Something that holds on to a thread of `runtime` and can't be stopped.
fn start_holding(runtime: &Runtime, kind: usize, begun: &Flag, end: &Flag) -> Option<JoinHandle<()>> {
    let hold = hold(begun, end);
    let task = match kind {
        0 => runtime.spawn_blocking(hold),
        // On the current-thread flavour only closures have threads.
        _ if is_current(runtime) => return None,
        1 => runtime.spawn(async move { hold() }),
        _ => runtime.spawn(async move { block_in_place(hold) }),
    };
    begun.wait();
    Some(task)
}

#[test]
fn dropping_a_runtime_waits_for_what_can_not_be_stopped() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            let dropped = Flag::new();
            thread::scope(|scope| {
                let is_dropped = dropped.clone();
                let handle = runtime.handle().clone();
                scope.spawn(move || {
                    drop(runtime);
                    is_dropped.set();
                });
                // The drop has begun.
                wait_until(|| executor::block_on(handle.spawn(async {})).is_err());
                assert!(!dropped.is_set() && !task.is_finished());
                end.set();
            });
            // It had the time to finish, and it did.
            executor::block_on(task).unwrap();
        }
    }
}

#[test]
fn shutdown_timeout_gives_up() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            let start = Instant::now();
            runtime.shutdown_timeout(Duration::from_millis(20));
            assert!(start.elapsed() >= Duration::from_millis(20));
            assert!(!task.is_finished());
            end.set();
            executor::block_on(task).unwrap();
        }
    }
}

#[test]
fn shutdown_timeout_does_not_use_up_its_time_for_nothing() {
    for runtime in every_runtime() {
        runtime.spawn(pending::<()>());
        run(&runtime, async { spawn_blocking(|| ()).await.unwrap() });
        let start = Instant::now();
        runtime.shutdown_timeout(FOREVER);
        assert!(start.elapsed() < PATIENCE);
    }
}

#[test]
fn shutdown_background_waits_for_nothing() {
    for runtime_kind in every_kind().iter_mut() {
        for kind in 0..3 {
            let runtime = runtime_kind.build().unwrap();
            let (begun, end) = (Flag::new(), Flag::new());
            let Some(task) = start_holding(&runtime, kind, &begun, &end) else { continue };
            runtime.shutdown_background();
            assert!(!task.is_finished());
            end.set();
            executor::block_on(task).unwrap();
        }
    }
}

#[test]
fn shutdown_background_may_be_called_inside_a_runtime() {
    for outer in every_runtime() {
        for inner in every_runtime() {
            let task = inner.spawn(pending::<()>());
            outer.block_on(async {
                inner.shutdown_background();
                assert!(task.await.unwrap_err().is_cancelled());
            });
        }
    }
    // Also inside itself.
    for processors in [1, 2] {
        let runtime = multi(processors).build().unwrap();
        let (send, receive) = tokio::sync::oneshot::channel::<Runtime>();
        let task = runtime.spawn(async move {
            receive.await.unwrap().shutdown_background();
            42
        });
        send.send(runtime).unwrap();
        assert_eq!(executor::block_on(task).unwrap(), 42);
    }
}

/// Counts how many of it exist.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Counted {
        count.fetch_add(1, SeqCst);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn every_future_is_dropped_at_shutdown_wherever_its_task_is() {
    for _ in 0..20 {
        for runtime in every_runtime() {
            let count = Arc::new(AtomicUsize::new(0));
            let semaphore = Arc::new(tokio::sync::Semaphore::new(0));
            let mut tasks = Vec::new();
            for i in 0..500 {
                let (counted, semaphore) = (Counted::new(&count), semaphore.clone());
                tasks.push(runtime.spawn(async move {
                    let _counted = counted;
                    match i % 6 {
                        0 => pending::<()>().await,
                        1 => sleep(FOREVER).await,
                        2 => drop(semaphore.acquire().await),
                        3 => loop {
                            yield_now().await;
                        },
                        4 => drop(spawn_blocking(|| ()).await),
                        _ => drop(spawn(pending::<()>()).await),
                    }
                }));
                if i == 250 {
                    // Some are waiting and some have never run.
                    run(&runtime, yield_now());
                }
            }
            drop(runtime);
            assert_eq!(count.load(SeqCst), 0);
            for task in tasks {
                executor::block_on(task).map_or_else(|error| assert!(error.is_cancelled()), |()| ());
            }
        }
    }
}

#[test]
fn hogs_and_closures_that_wait_for_their_turn_are_dropped_at_shutdown() {
    let runtime =
        multi(1).max_hogs(1).max_blocking_threads(1).blocking_threshold(Duration::from_millis(1)).build().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let ended = Flag::new();
    for _ in 0..10 {
        let (hog, closure) = (Counted::new(&count), Counted::new(&count));
        let (hogs_end, closures_end) = (ended.clone(), ended.clone());
        runtime.spawn(async move {
            let _hog = hog;
            while !hogs_end.is_set() {
                compute_for(Duration::from_millis(5));
                yield_now().await;
            }
        });
        runtime.spawn_blocking(move || {
            let _closure = closure;
            closures_end.wait();
        });
    }
    run(&runtime, async { sleep(Duration::from_millis(100)).await });
    assert_eq!(count.load(SeqCst), 20);
    ended.set();
    drop(runtime);
    assert_eq!(count.load(SeqCst), 0);
}

/// Spawns another one of itself when it is dropped.
struct Hydra {
    heads: usize,
    handle: Handle,
    _counted: Counted,
}

impl Drop for Hydra {
    fn drop(&mut self) {
        if self.heads > 0 {
            let next =
                Hydra { heads: self.heads - 1, handle: self.handle.clone(), _counted: Counted::new(&self._counted.0) };
            self.handle.spawn(live(next));
            if let Ok(current) = Handle::try_current() {
                current.spawn(yield_now());
                drop(current.spawn_blocking(|| ()));
            }
        }
    }
}

async fn live(hydra: Hydra) {
    let _hydra = hydra;
    pending().await
}

/// A waker is called with a lock held that the future it wakes takes in its destructor, as in h2.
#[test]
fn a_wake_under_a_lock_does_not_drop_the_woken_future() {
    struct Shared {
        wakers: std::sync::Mutex<Vec<Waker>>,
    }
    struct Member(Arc<Shared>);
    impl Future for Member {
        type Output = ();

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            self.0.wakers.lock().unwrap().push(cx.waker().clone());
            Poll::Pending
        }
    }
    impl Drop for Member {
        fn drop(&mut self) {
            let wakers = self.0.wakers.lock().unwrap();
            wakers.iter().for_each(Waker::wake_by_ref);
        }
    }

    for runtime in every_runtime() {
        let shared = Arc::new(Shared { wakers: Default::default() });
        let _watchdog = Watchdog::of(&runtime);
        // So many that dropping each inside the drop of the one before would not fit on a stack, either.
        for _ in 0..1000 {
            runtime.spawn(Member(shared.clone()));
        }
        let members = shared.clone();
        runtime.block_on(async move {
            while members.wakers.lock().unwrap().len() < 1000 {
                yield_now().await;
            }
        });
        drop(runtime);
        assert_eq!(Arc::strong_count(&shared), 1);
    }
}

#[test]
fn tasks_that_spawn_in_their_drop_all_end_at_shutdown() {
    for _ in 0..20 {
        for runtime in every_runtime() {
            let count = Arc::new(AtomicUsize::new(0));
            let hydra = |heads| Hydra { heads, handle: runtime.handle().clone(), _counted: Counted::new(&count) };
            (0..50).for_each(|heads| drop(runtime.spawn(live(hydra(heads % 10)))));
            run(&runtime, yield_now());
            (0..50).for_each(|heads| drop(runtime.spawn(live(hydra(heads % 10)))));
            drop(runtime);
            assert_eq!(count.load(SeqCst), 0);
        }
    }
}

/// Somebody is inside `block_on` when the runtime goes, and is told by the tasks that he waits for.
#[test]
fn a_thread_inside_block_on_is_not_forgotten_at_shutdown() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        let begun = Flag::new();
        let count = Arc::new(AtomicUsize::new(0));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                handle.block_on(async {
                    let tasks: Vec<_> = (0..100).map(|_| spawn(yield_forever(Counted::new(&count)))).collect();
                    let waiting = spawn(pending::<()>());
                    yield_now().await;
                    begun.set();
                    let waited_for = waiting.await.unwrap_err();
                    for task in tasks {
                        assert!(task.await.unwrap_err().is_cancelled());
                    }
                    waited_for.is_cancelled()
                })
            });
            begun.wait();
            drop(runtime);
            assert!(waiting.join().unwrap());
        });
        assert_eq!(count.load(SeqCst), 0);
    }
}

async fn yield_forever(counted: Counted) {
    let _counted = counted;
    loop {
        yield_now().await;
    }
}

/// The same, when he waits for something that has nothing to do with the runtime: he goes on waiting, asleep.
#[test]
fn a_thread_inside_block_on_sleeps_after_shutdown() {
    for runtime in every_runtime() {
        let handle = runtime.handle().clone();
        let begun = Flag::new();
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        let waiting = {
            let begun = begun.clone();
            thread::spawn(move || {
                handle.block_on(async {
                    begun.set();
                    receive.await.unwrap();
                });
                let used = clock_gettime(ClockId::ThreadCPUTime);
                Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
            })
        };
        begun.wait();
        drop(runtime);
        thread::sleep(Duration::from_millis(300));
        send.send(()).unwrap();
        let used = waiting.join().unwrap();
        assert!(used < Duration::from_millis(100), "the thread used {used:?} for waiting");
    }
}

/// A timer of a runtime may be awaited by anybody. At the end he is told, as on tokio, by a panic.
#[test]
fn a_timer_that_is_awaited_elsewhere_ends_with_its_runtime() {
    for runtime in every_runtime() {
        let timer = {
            let _entered = runtime.enter();
            sleep(FOREVER)
        };
        let waiting = thread::spawn(move || panic_message(|| executor::block_on(timer)));
        // The timer is set when the thread has polled it, and then only the runtime can wake it.
        thread::sleep(Duration::from_millis(5));
        drop(runtime);
        assert_eq!(waiting.join().unwrap(), "A Tokio 1.x context was found, but it is being shutdown.");
    }
}

#[test]
fn threads_that_start_also_stop() {
    for runtime_kind in every_kind().iter_mut() {
        let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (start, stop) = (started.clone(), stopped.clone());
        runtime_kind.on_thread_start(move || _ = start.fetch_add(1, SeqCst));
        runtime_kind.on_thread_stop(move || _ = stop.fetch_add(1, SeqCst));
        let runtime = runtime_kind.build().unwrap();
        run(&runtime, async {
            let closures: Vec<_> =
                (0..20).map(|_| spawn_blocking(|| thread::sleep(Duration::from_millis(2)))).collect();
            for closure in closures {
                closure.await.unwrap();
            }
        });
        drop(runtime);
        assert!(started.load(SeqCst) > 0);
        assert_eq!(started.load(SeqCst), stopped.load(SeqCst));
    }
}

/// The machine that sleeps in the reactor must hear of the shutdown, also if it has just gone there.
#[test]
fn a_runtime_with_a_netpoll_ends_at_any_moment() {
    let _watchdog = Watchdog::new();
    for round in 0..1_000 {
        let runtime = multi(1 + round % 3).sysmon(false).build().unwrap();
        runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        (0..round % 7).for_each(|_| drop(runtime.spawn(yield_now())));
        (0..round % 100 * 20).for_each(|_| std::hint::spin_loop());
        drop(runtime);
    }
}

/// A netpoll is installed while a machine sleeps without one and is being sent for.
#[test]
fn a_netpoll_may_be_installed_while_machines_are_sent_for() {
    let _watchdog = Watchdog::new();
    for round in 0..1_000 {
        let runtime = multi(1 + round % 2).sysmon(false).build().unwrap();
        let metrics = runtime.metrics();
        wait_until(|| metrics.num_idle_workers() == metrics.num_workers());
        thread::scope(|scope| {
            scope.spawn(|| runtime.block_on(runtime.spawn(async {})).unwrap());
            (0..round % 100 * 5).for_each(|_| std::hint::spin_loop());
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        });
        runtime.block_on(runtime.spawn(async {})).unwrap();
    }
}

/// A task id is not inherited by what runs between tasks.
#[test]
fn there_is_no_task_id_outside_of_a_task() {
    for runtime in every_runtime() {
        assert!(runtime.block_on(async { task::try_id() }).is_none());
        assert!(run(&runtime, async { task::try_id() }).is_some());
    }
    assert_eq!(panic_message(task::id), "Can't get a task id when not inside a task");
}

/// A thread that is stuck until a task of its own ring has run must not be stuck for ever when the runtime ends: the task
/// is cancelled.
#[test]
fn what_a_stuck_thread_waits_for_is_cancelled_at_shutdown() {
    for runtime_kind in every_kind().iter_mut() {
        for (kind, at_once) in (0..3).flat_map(|kind| [(kind, true), (kind, false)]) {
            let runtime = runtime_kind.build().unwrap();
            if is_current(&runtime) && kind > 0 {
                continue;
            }
            let begun = Flag::new();
            let is_begun = begun.clone();
            let stuck = move || {
                let task = spawn(pending::<()>());
                is_begun.set();
                assert!(executor::block_on(task).unwrap_err().is_cancelled());
            };
            let task = match kind {
                0 => runtime.spawn_blocking(stuck),
                1 => runtime.spawn(async move { stuck() }),
                _ => runtime.spawn(async move { block_in_place(stuck) }),
            };
            if at_once {
                drop(runtime);
            } else {
                begun.wait();
                drop(runtime);
            }
            // Cancelled, or it was stuck and has come out.
            executor::block_on(task).map_or_else(|error| assert!(error.is_cancelled(), "{error}"), |()| ());
        }
    }
}
