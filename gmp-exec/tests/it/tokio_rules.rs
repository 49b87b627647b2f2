//! Rules that programs written for tokio rely on, most of them found by tokio's own tests.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker, ready};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Builder, EnterGuard, Handle, LocalOptions, LocalRuntime, Runtime, worker_index};
use gmp_exec::task::{self, JoinHandle, block_in_place, coop, spawn_blocking, spawn_local, yield_now};
use gmp_exec::{bridge, spawn};

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Watchdog, current, multi, run, wait_until};

fn runtimes() -> [Runtime; 3] {
    [current(), multi(1), multi(2)].map(|mut builder| builder.build().unwrap())
}

fn message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    let text = payload.downcast_ref::<&'static str>().map(|text| (*text).to_owned());
    text.unwrap_or_else(|| *payload.downcast::<String>().unwrap())
}

// ---- tasks ----

#[test]
fn a_future_that_panics_is_dropped_while_its_thread_unwinds() {
    struct Panics(Arc<AtomicBool>);
    impl Future for Panics {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic!("as the test wants it to");
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.store(thread::panicking(), SeqCst);
            panic!("once more");
        }
    }
    for runtime in runtimes() {
        let was_panicking = Arc::new(AtomicBool::new(false));
        let task = runtime.spawn(Panics(was_panicking.clone()));
        let error = runtime.block_on(task).unwrap_err();
        assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "as the test wants it to");
        assert!(was_panicking.load(SeqCst));
    }
}

#[test]
fn an_output_that_nobody_takes_is_dropped_as_the_task() {
    struct Output(Arc<Mutex<Option<task::Id>>>);
    impl Drop for Output {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = task::try_id();
        }
    }
    for runtime in runtimes() {
        let dropped_by = Arc::new(Mutex::new(None));
        let output = Output(dropped_by.clone());
        let task = runtime.spawn(async move { output });
        let id = task.id();
        runtime.block_on(async { wait_for(|| task.is_finished()).await });
        drop(task);
        assert_eq!(*dropped_by.lock().unwrap(), Some(id));
        assert_eq!(task::try_id(), None);
    }
}

async fn wait_for(mut condition: impl FnMut() -> bool) {
    while !condition() {
        yield_now().await;
    }
}

#[test]
fn a_join_handle_is_send_and_sync_if_the_output_is_send() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<JoinHandle<Cell<u8>>>();
    fn is_sync<T: Sync>() {}
    is_sync::<EnterGuard<'static>>();
}

// ---- threads ----

#[test]
fn a_runtime_in_a_thread_local_is_dropped_with_its_thread() {
    thread_local!(static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) });
    for make in [|| current().build().unwrap(), || multi(2).build().unwrap()] {
        let (sender, receiver) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            RUNTIME.set(Some(make()));
            // Its context is made after the runtime's cell, so it is gone before.
            let runtime = make();
            RUNTIME.with_borrow(|kept| {
                kept.as_ref().unwrap().spawn(async move {
                    let _sender = sender;
                    pending::<()>().await;
                })
            });
            runtime.block_on(yield_now());
        });
        thread.join().unwrap();
        assert!(receiver.recv().is_err(), "the task was dropped");
    }
}

#[test]
fn what_a_park_hook_spawns_runs_before_the_thread_sleeps() {
    let waiting = Arc::new(Mutex::new(None::<Waker>));
    let was_parked = AtomicBool::new(false);
    let hook = {
        let waiting = waiting.clone();
        move || {
            if !was_parked.swap(true, SeqCst) {
                let waiting = waiting.clone();
                spawn(async move { waiting.lock().unwrap().take().unwrap().wake() });
            }
        }
    };
    let runtime = current().on_thread_park(hook).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let mut has_waited = false;
    runtime.block_on(poll_fn(|cx| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        *waiting.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }));
}

#[test]
fn tasks_that_only_yield_let_the_network_have_its_turn() {
    // Of one thread: with several another one may be asleep in there, and would bring the event some time or other.
    let runtime = current().build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    run(&runtime, async move {
        let is_done = Arc::new(AtomicBool::new(false));
        let task = {
            let (netpoll, is_done) = (netpoll.clone(), is_done.clone());
            spawn(async move {
                netpoll.wait().await;
                is_done.store(true, SeqCst);
            })
        };
        wait_for(|| netpoll.waiting() == 1).await;
        netpoll.make_ready();
        let mut yields = 0;
        while !is_done.load(SeqCst) {
            yields += 1;
            yield_now().await;
        }
        task.await.unwrap();
        assert!(yields < 5, "{yields}");
    });
}

// ---- block_on ----

#[test]
fn the_future_of_a_handles_block_on_is_a_guest() {
    for runtime in runtimes() {
        let handle = runtime.handle().clone();
        handle.block_on(async {
            assert_eq!(worker_index(), None);
            block_in_place(|| Handle::current().block_on(yield_now()));
        });
    }
    let runtime = current().build().unwrap();
    assert_eq!(runtime.block_on(async { worker_index() }), Some(0));
    let text = message(|| runtime.block_on(async { block_in_place(|| ()) }));
    assert_eq!(text, "can call blocking only when running on the multi-threaded runtime");
    let tasks = runtime.spawn(async { (worker_index(), catch_unwind(|| block_in_place(|| ())).is_err()) });
    assert_eq!(runtime.handle().block_on(tasks).unwrap(), (Some(0), true), "its tasks are none");
}

#[test]
fn worker_index_is_that_of_the_processor() {
    assert_eq!(worker_index(), None);
    let runtime = multi(2).build().unwrap();
    assert_eq!(runtime.block_on(async { worker_index() }), None);
    let index = run(&runtime, async { worker_index() }).unwrap();
    assert!(index < 2);
    assert_eq!(run(&runtime, async { spawn_blocking(worker_index).await.unwrap() }), None);
}

#[test]
fn misuse_panics_with_tokios_words() {
    let runtime = multi(1).build().unwrap();
    let text = message(|| runtime.block_on(async { runtime.block_on(async {}) }));
    assert!(text.starts_with("Cannot start a runtime from within a runtime."), "{text}");
    assert!(text.ends_with("use `.await` on the future instead of blocking on it."), "{text}");
    let text = message(|| runtime.block_on(async { drop(current().build().unwrap()) }));
    assert!(text.starts_with("Cannot drop a runtime in a context where blocking is not allowed."), "{text}");
}

// ---- the end ----

#[test]
fn a_closure_with_a_place_runs_although_the_runtime_ends() {
    for mut builder in [multi(1), multi(2), current()] {
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
    for mut builder in [multi(1), current()] {
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
    for runtime in runtimes() {
        let handle = runtime.handle().clone();
        drop(runtime);
        assert!(handle.is_shut_down());
        let closure = handle.spawn_blocking(|| 42);
        assert!(handle.block_on(closure).unwrap_err().is_cancelled());
    }
}

// ---- settings ----

#[test]
fn names_and_limits_are_what_was_set() {
    let runtime = current().name("the runtime").max_io_events_per_tick(7).build().unwrap();
    assert_eq!(runtime.handle().name(), Some("the runtime"));
    assert_eq!(runtime.handle().max_io_events(), (7, 7));
    let runtime = current().max_io_events_per_busy_tick(3).build().unwrap();
    assert_eq!(runtime.handle().max_io_events(), (1024, 3));
    assert_eq!(runtime.handle().name(), None);

    let text = message(|| {
        Builder::new_current_thread().name(" ");
    });
    assert_eq!(text, "runtime name shouldn't be empty");
    let text = message(|| {
        Builder::new_current_thread().max_io_events_per_tick(0);
    });
    assert_eq!(text, "max_io_events_per_tick must be non-zero");
    let text = message(|| {
        Builder::new_current_thread().max_io_events_per_busy_tick(0);
    });
    assert_eq!(text, "max_io_events_per_busy_tick must be non-zero");
}

#[test]
fn another_crate_takes_part_in_the_budget() {
    assert_eq!(bridge::budget(), None);
    assert!(!bridge::is_entered());
    for runtime in runtimes() {
        run(&runtime, async {
            assert!(bridge::is_entered());
            coop::consume_budget().await;
            assert_eq!(bridge::budget(), Some(127));
            bridge::set_budget(Some(0));
            let mut yields = pin!(coop::consume_budget());
            let mut polls = 0;
            poll_fn(|cx| {
                polls += 1;
                ready!(yields.as_mut().poll(cx));
                Poll::Ready(())
            })
            .await;
            assert_eq!(polls, 2);
            let closure = spawn_blocking(|| (bridge::budget(), bridge::is_entered()));
            assert_eq!(closure.await.unwrap(), (None, false));
        });
    }
}

#[test]
fn parks_are_counted_from_the_beginning_and_pair_up_with_unparks() {
    let runtime = multi(2).build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!([0, 1].map(|worker| metrics.worker_park_unpark_count(worker)), [1, 1]);
    assert_eq!([0, 1].map(|worker| metrics.worker_park_count(worker)), [1, 1]);
    run(&runtime, async { yield_now().await });
    wait_until(|| (0..2).any(|worker| metrics.worker_park_unpark_count(worker) >= 3));
    drop(runtime);
    for worker in 0..2 {
        assert_eq!(metrics.worker_park_unpark_count(worker) % 2, 0);
    }
    assert!((0..2).any(|worker| metrics.worker_total_busy_duration(worker) > Duration::ZERO));
}

#[test]
fn a_sleeping_runtime_is_not_busy() {
    const SLEEP: Duration = Duration::from_millis(200);
    for mut builder in [current(), multi(1)] {
        // Not every time: the machine may stand still while the thread is busy.
        wait_until(|| {
            let runtime = builder.build().unwrap();
            let metrics = runtime.metrics();
            run(&runtime, async { gmp_exec::time::sleep(SLEEP).await });
            drop(runtime);
            assert!(metrics.worker_park_count(0) >= 1);
            let busy = metrics.worker_total_busy_duration(0);
            assert!(Duration::ZERO < busy);
            busy < SLEEP
        });
    }
}

#[test]
fn a_processor_that_a_closure_gave_on_is_not_busy() {
    const HELD: Duration = Duration::from_millis(20);
    // Not every time: on a crowded machine it takes long to wake the heir, who counts as busy meanwhile.
    wait_until(|| {
        // Without sysmon every closure gives its processor on before it begins.
        let runtime = multi(2).sysmon(false).build().unwrap();
        let metrics = runtime.metrics();
        for _ in 0..20 {
            run(&runtime, async { spawn_blocking(|| std::thread::sleep(HELD)).await.unwrap() });
        }
        drop(runtime);
        let busy: Duration = (0..2).map(|worker| metrics.worker_total_busy_duration(worker)).sum();
        busy < HELD * 10
    });
}

// ---- LocalRuntime ----

fn local() -> LocalRuntime {
    current().build_local(LocalOptions::default()).unwrap()
}

#[test]
fn local_tasks_are_spawned_wherever_their_runtime_is_current() {
    let runtime = local();
    let count = Rc::new(Cell::new(0));
    let add_one = || {
        let count = count.clone();
        async move { count.set(count.get() + 1) }
    };
    let mut tasks = vec![runtime.spawn_local(add_one())];
    {
        let _current = runtime.enter();
        tasks.push(spawn_local(add_one()));
    }
    runtime.block_on(async {
        tasks.push(spawn_local(add_one()));
        for task in tasks.drain(..) {
            task.await.unwrap();
        }
        // A task that is `Send` is on the same thread.
        spawn(async { spawn_local(async { yield_now().await }).await.unwrap() }).await.unwrap();
    });
    assert_eq!(count.get(), 3);
}

#[test]
fn local_tasks_are_dropped_with_their_runtime() {
    type End = fn(LocalRuntime);
    let ends: [End; 3] =
        [drop, |runtime| runtime.shutdown_background(), |runtime| runtime.shutdown_timeout(Duration::from_secs(10))];
    for end in ends {
        let runtime = local();
        let held = Rc::new(());
        let task = {
            let held = held.clone();
            runtime.spawn_local(async move {
                pending::<()>().await;
                drop(held);
            })
        };
        runtime.block_on(yield_now());
        end(runtime);
        assert_eq!(Rc::strong_count(&held), 1);
        assert!(current().build().unwrap().block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn local_tasks_need_a_local_runtime_of_this_thread() {
    const OUTSIDE: &str = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
    for runtime in runtimes() {
        assert_eq!(message(|| runtime.block_on(async { drop(spawn_local(async {})) })), OUTSIDE);
    }
    let runtime = local();
    let handle = runtime.handle().clone();
    let elsewhere = thread::spawn(move || {
        let _current = handle.enter();
        message(|| drop(spawn_local(async {})))
    });
    assert_eq!(
        elsewhere.join().unwrap(),
        "Local tasks can only be spawned on a LocalRuntime from the thread the runtime was created on"
    );
    assert!(message(|| drop(multi(1).build_local(LocalOptions::default()))).contains("current_thread"));
}
