//! What goes wrong around the executor: panics everywhere, misuse, no threads, and the end of the runtime at any moment.

use crate::go_behaviour::FakeNetpoll;
use crate::support::{
    FOREVER, Flag, PATIENCE, Watchdog, compute_for, current, in_child, in_children, multi, run, wait_until,
};
use futures::executor;
use gmp_exec::runtime::{Builder, Handle, Runtime};
use gmp_exec::task::{JoinHandle, block_in_place, spawn_blocking, yield_now};
use gmp_exec::time::sleep;
use gmp_exec::{spawn, task};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::any::Any;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread;
use std::time::{Duration, Instant};

fn every_kind() -> Vec<Builder> {
    vec![current(), multi(1), multi(2), multi(8)]
}

fn every_runtime() -> Vec<Runtime> {
    every_kind().iter_mut().map(|builder| builder.build().unwrap()).collect()
}

/// What `f` panics with.
fn panic_message<T>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => message(&*payload),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a panic with a message")
}

// ---- no threads ----

/// Large enough to be refused by the limit below, whatever else the process has mapped.
const STACK: usize = 256 << 20;

/// From here on no thread with a stack of [`STACK`] can be started, until the value is dropped.
struct NoThreads(Rlimit);

impl NoThreads {
    fn begin() -> NoThreads {
        // A thread that is still starting needs memory, and the standard library aborts without.
        wait_until(all_others_sleep);
        let before = getrlimit(Resource::As);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")).unwrap();
        let limit = mapped.trim().parse::<u64>().unwrap() * 1024 + STACK as u64 / 2;
        setrlimit(Resource::As, Rlimit { current: Some(limit), ..before }).unwrap();
        assert!(thread::Builder::new().stack_size(STACK).spawn(|| ()).is_err(), "threads can still be started");
        NoThreads(before)
    }
}

fn all_others_sleep() -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let others = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap());
    others.filter(|task| task.file_name() != *own).all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S')))
    })
}

impl Drop for NoThreads {
    fn drop(&mut self) {
        setrlimit(Resource::As, self.0).unwrap();
    }
}

#[test]
fn without_further_threads_all_tasks_finish() {
    in_children("faults::without_further_threads_all_tasks_finish", 0..3, |case| {
        let runtime = starved([1, 2, 4][case]);
        let _watchdog = Watchdog::of(&runtime);
        let limit = NoThreads::begin();
        let tasks: Vec<_> = (0..100).map(|i| runtime.spawn(hold_on_somehow(i))).collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        wait_until(|| runtime.metrics().num_machines() == 1);
        drop(limit);
    });
}

fn starved(processors: usize) -> Runtime {
    multi(processors).thread_stack_size(STACK).blocking_threshold(Duration::from_millis(1)).build().unwrap()
}

async fn hold_on_somehow(i: usize) {
    for _ in 0..2 {
        match i % 5 {
            0 => thread::sleep(Duration::from_millis(3)),
            1 => compute_for(Duration::from_millis(3)),
            2 => block_in_place(|| thread::sleep(Duration::from_millis(3))),
            3 => spawn_blocking(|| thread::sleep(Duration::from_millis(3))).await.unwrap(),
            _ => sleep(Duration::from_millis(1)).await,
        }
        yield_now().await;
    }
}

/// The only machine is stuck until another task has run, and the system has no thread. When it has one again, it is used,
/// although nothing happens then that would make somebody ask for it.
#[test]
fn when_threads_can_be_started_again_what_waited_goes_on() {
    in_children("faults::when_threads_can_be_started_again_what_waited_goes_on", 0..6, |case| {
        let stuck = [stuck_in_a_poll, stuck_in_a_section, stuck_in_a_section_with_a_timer][case % 3];
        let runtime = starved(1 + case / 3);
        let _watchdog = Watchdog::of(&runtime);
        let limit = NoThreads::begin();
        let task = runtime.spawn(async move { stuck() });
        // Long enough for whoever tries to start a thread to have given up trying.
        thread::sleep(Duration::from_millis(100));
        assert!(!task.is_finished());
        drop(limit);
        runtime.block_on(task).unwrap();
    });
}

fn stuck_in_a_poll() {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    flag.wait();
}

fn stuck_in_a_section() {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    block_in_place(|| flag.wait());
}

fn stuck_in_a_section_with_a_timer() {
    let flag = Flag::new();
    let other = flag.clone();
    block_in_place(|| {
        Handle::current().spawn(async move {
            sleep(Duration::from_millis(1)).await;
            other.set();
        });
        flag.wait();
    });
}

#[test]
fn a_runtime_without_any_thread_is_an_error() {
    in_child("faults::a_runtime_without_any_thread_is_an_error", || {
        let limit = NoThreads::begin();
        assert!(multi(2).thread_stack_size(STACK).build().is_err());
        drop(limit);
        assert!(multi(2).thread_stack_size(STACK).build().is_ok());
    });
}

#[test]
fn a_closure_that_can_get_no_thread_is_cancelled() {
    in_child("faults::a_closure_that_can_get_no_thread_is_cancelled", || {
        let runtime = current().thread_stack_size(STACK).build().unwrap();
        let limit = NoThreads::begin();
        let closure = runtime.spawn_blocking(|| 42);
        assert!(runtime.block_on(closure).unwrap_err().is_cancelled());
        drop(limit);
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 42)).unwrap(), 42);
    });
}

// ---- panics of tasks ----

#[test]
fn a_panic_in_a_poll_becomes_a_join_error_wherever_the_poll_is() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let first = spawn(async { panic!("in the first poll") });
            let later = spawn(async {
                yield_now().await;
                sleep(Duration::from_micros(10)).await;
                panic!("in a later poll")
            });
            assert_eq!(message(&*first.await.unwrap_err().into_panic()), "in the first poll");
            assert_eq!(message(&*later.await.unwrap_err().into_panic()), "in a later poll");
            assert!(spawn_blocking(|| panic!("in a closure")).await.unwrap_err().is_panic());
            // Nobody looks at these.
            (0..100).for_each(|_| drop(spawn(async { panic!("detached") })));
        });
        wait_until(|| runtime.metrics().num_alive_tasks() == 0 || is_current(&runtime));
    }
}

fn is_current(runtime: &Runtime) -> bool {
    runtime.handle().runtime_flavor() == gmp_exec::runtime::RuntimeFlavor::CurrentThread
}

/// Panics when it is dropped, except while another panic unwinds.
struct PanicsInDrop;

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("in drop");
        }
    }
}

/// A future that is ready, or never; its own destructor panics.
struct Fragile {
    ready: bool,
    _bomb: PanicsInDrop,
}

impl Fragile {
    fn new(ready: bool) -> Fragile {
        Fragile { ready, _bomb: PanicsInDrop }
    }
}

impl Future for Fragile {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.ready { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn a_panic_in_the_drop_of_a_future_becomes_a_join_error() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let finished = spawn(Fragile::new(true)).await.unwrap_err();
            assert_eq!(message(&*finished.into_panic()), "in drop");
            let waiting = spawn(Fragile::new(false));
            yield_now().await;
            waiting.abort();
            assert_eq!(message(&*waiting.await.unwrap_err().into_panic()), "in drop");
            let never_polled = spawn(Fragile::new(false));
            never_polled.abort();
            assert!(never_polled.await.unwrap_err().is_panic());
        });
        // And at the end of the runtime.
        let left = runtime.spawn(Fragile::new(false));
        drop(runtime.spawn(Fragile::new(false)));
        run(&runtime, yield_now());
        drop(runtime);
        assert!(executor::block_on(left).is_err());
    }
}

#[test]
fn a_panic_in_the_drop_of_an_output_hurts_nobody() {
    for runtime in every_runtime() {
        run(&runtime, async {
            // Dropped by the executor, because nobody waits for it.
            drop(spawn(async { PanicsInDrop }));
            let aborted = spawn(async { PanicsInDrop });
            let finished = aborted.abort_handle();
            while !finished.is_finished() {
                yield_now().await;
            }
            // Dropped with the handle: the output is there, but nobody took it.
            let untaken = spawn(async { PanicsInDrop });
            while !untaken.is_finished() {
                yield_now().await;
            }
            drop(untaken);
            drop(aborted);
        });
        let late = runtime.spawn(async { PanicsInDrop });
        run(&runtime, yield_now());
        drop(runtime);
        drop(late);
    }
}

// ---- panics of wakers ----

/// A waker that panics in everything it is asked for, except in being cloned.
fn hostile_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(std::ptr::null(), &VTABLE),
        |_| panic!("in wake"),
        |_| panic!("in wake_by_ref"),
        |_| {
            if !thread::panicking() {
                panic!("in the waker's drop")
            }
        },
    );
    // SAFETY: the functions ignore the data pointer, so any thread may call any of them any number of times.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

/// Polls once with the hostile waker.
fn poll_hostile<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    let waker = std::mem::ManuallyDrop::new(hostile_waker());
    Pin::new(future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_waker_that_panics_does_not_hurt_the_task_it_waits_for() {
    for runtime in every_runtime() {
        let proceed = Flag::new();
        let gate = proceed.clone();
        let mut handle = runtime.spawn(async move {
            while !gate.is_set() {
                yield_now().await;
            }
            42
        });
        assert!(poll_hostile(&mut handle).is_pending());
        proceed.set();
        assert_eq!(run(&runtime, handle).unwrap(), 42);
        // Replaced, and dropped with the handle.
        let mut replaced = runtime.spawn(pending::<()>());
        assert!(poll_hostile(&mut replaced).is_pending());
        assert!(poll_hostile(&mut replaced).is_pending());
        drop(replaced);
        let mut left = runtime.spawn(pending::<()>());
        assert!(poll_hostile(&mut left).is_pending());
        drop(runtime);
        assert!(executor::block_on(left).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_waker_that_panics_does_not_hurt_the_timers() {
    for runtime in every_runtime() {
        let sleep_here = |duration| {
            let _entered = runtime.enter();
            Box::pin(sleep(duration))
        };
        let mut due = sleep_here(Duration::from_millis(1));
        assert!(poll_hostile(&mut due).is_pending());
        run(&runtime, async { sleep(Duration::from_millis(2)).await });
        // Fired: the timer has no waker left that could panic here.
        drop(due);
        let mut left = sleep_here(FOREVER);
        assert!(poll_hostile(&mut left).is_pending());
        drop(runtime);
        drop(left);
    }
}

// ---- misuse ----

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

#[test]
fn a_runtime_dropped_inside_another_one_is_refused() {
    for outer in every_runtime() {
        for inner in every_runtime() {
            let task = inner.spawn(pending::<()>());
            assert_eq!(outer.block_on(async { panic_message(|| drop(inner)) }), DROPPED_INSIDE);
            // It was shut down all the same.
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

// ---- shutdown ----

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
