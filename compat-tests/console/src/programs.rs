//! Ten programs, for each of which the console shows the same on tokio and on gmp.
//!
//! But for the last one, each runs on one thread with a clock that stands still, so that the order
//! of everything that happens is fixed.

use std::future::{pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet, LocalSet, consume_budget, spawn, spawn_blocking, spawn_local, yield_now};
use tokio::time::{Instant, interval, interval_at, sleep, timeout};
use tracing::{Dispatch, dispatcher};

use crate::{Console, table};

/// A program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name, and that of the file with its tables.
    pub name: &'static str,
    run: fn(&Dispatch, &mut Console) -> String,
}

impl Program {
    /// Runs the program, and returns what the console shows.
    ///
    /// # Panics
    ///
    /// If the console does not show everything within a minute, or has lost something.
    pub fn tables(&self) -> String {
        let (dispatch, mut console) = Console::start();
        (self.run)(&dispatch, &mut console)
    }
}

/// The ten programs.
pub const ALL: [Program; 10] = [
    Program { name: "spawns", run: |dispatch, console| on_one_thread(dispatch, console, spawns()) },
    Program { name: "kinds", run: |dispatch, console| on_one_thread(dispatch, console, kinds()) },
    Program { name: "sizes", run: sizes },
    Program { name: "wakes", run: |dispatch, console| on_one_thread(dispatch, console, wakes()) },
    Program { name: "sleeps", run: |dispatch, console| on_one_thread(dispatch, console, sleeps()) },
    Program { name: "intervals", run: |dispatch, console| on_one_thread(dispatch, console, intervals()) },
    Program { name: "locks", run: |dispatch, console| on_one_thread(dispatch, console, locks()) },
    Program { name: "semaphores", run: |dispatch, console| on_one_thread(dispatch, console, semaphores()) },
    Program { name: "channels", run: |dispatch, console| on_one_thread(dispatch, console, channels()) },
    Program { name: "blocks", run: blocks },
];

/// What the console shows after `program`, while its runtime and the tasks that wait still exist.
fn on_one_thread<F: Future<Output = ()>>(dispatch: &Dispatch, console: &mut Console, program: F) -> String {
    run_on_one_thread(dispatch, console, program, false)
}

/// `program` is boxed, so that the sizes of tokio's futures on its stack don't matter.
fn run_on_one_thread<F: Future<Output = ()>>(
    dispatch: &Dispatch,
    console: &mut Console,
    program: F,
    with_sizes: bool,
) -> String {
    let mut builder = Builder::new_current_thread();
    let runtime = with_subscriber(builder.enable_all().start_paused(true), dispatch);
    let program = Box::pin(program);
    dispatcher::with_default(dispatch, || {
        runtime.block_on(program);
        shown(console, with_sizes)
    })
}

fn shown(console: &mut Console, with_sizes: bool) -> String {
    let view = console.wait();
    assert_eq!(view.dropped_events, 0);
    table::write(view, with_sizes)
}

/// The threads of the runtime, also those for closures, have the subscriber.
fn with_subscriber(builder: &mut Builder, dispatch: &Dispatch) -> Runtime {
    let dispatch = dispatch.clone();
    let begin = move || std::mem::forget(dispatcher::set_default(&dispatch));
    builder.on_thread_start(begin).build().expect("a runtime")
}

#[cfg(tokio_unstable)]
use tokio::task::Builder as TaskBuilder;

/// Without the cfg, the drop-in has no names.
#[cfg(not(tokio_unstable))]
use gmp_exec::task::Builder as TaskBuilder;

/// A macro, because the task's place is that of the call.
macro_rules! named {
    ($name:literal, $future:expr) => {
        TaskBuilder::new().name($name).spawn($future).expect("a runtime")
    };
}

async fn ended<T>(task: JoinHandle<T>) -> T {
    task.await.expect("the task ends")
}

/// Names, tasks in tasks, a set, an abort, and a panic.
async fn spawns() {
    let outer = spawn(async {
        let inner = spawn(async {
            let innermost = spawn(async {});
            ended(innermost).await;
        });
        ended(inner).await;
    });
    ended(outer).await;
    named!("has a name", async {}).await.expect("the task ends");
    named!("is never woken", pending::<()>());
    let mut set = JoinSet::new();
    set.spawn(ready(1));
    set.spawn(async { 2 });
    while set.join_next().await.is_some() {}
    let aborted = spawn(pending::<()>());
    yield_now().await;
    aborted.abort();
    assert!(aborted.await.is_err_and(|error| error.is_cancelled()));
    let never_polled = spawn(pending::<()>());
    never_polled.abort();
    assert!(never_polled.await.is_err_and(|error| error.is_cancelled()));
}

/// Local tasks, and closures that other tasks wait for.
async fn kinds() {
    let set = LocalSet::new();
    set.run_until(async {
        let local = spawn_local(async { yield_now().await });
        ended(local).await;
    })
    .await;
    let (sender, receiver) = mpsc::channel::<()>();
    let closure = spawn_blocking(move || receiver.recv().is_ok());
    let waits = spawn(async move { assert!(ended(closure).await) });
    // The task waits by now.
    spawn(async move { sender.send(()).expect("the closure waits") });
    ended(waits).await;
}

/// Futures of several sizes. The large one is moved to the heap.
fn sizes(dispatch: &Dispatch, console: &mut Console) -> String {
    let program = async {
        ended(spawn(ready([1_u8; 100]))).await;
        ended(spawn(ready([1_u64; 5000]))).await;
        let captured = [1_u8; 30];
        let closure = spawn_blocking(move || captured.len());
        // Without a poll, so that their number is fixed.
        while !closure.is_finished() {
            std::thread::yield_now();
        }
        ended(closure).await;
    };
    run_on_one_thread(dispatch, console, program, true)
}

/// Tasks that wake themselves, that yield, whose budget is used up, and whose waker is lost.
async fn wakes() {
    let by_reference = spawn(thrice(|cx| cx.wake_by_ref()));
    let by_value = spawn(thrice(|cx| cx.clone().wake()));
    let yields = spawn(async {
        for _ in 0..3 {
            yield_now().await;
        }
    });
    let uses_its_budget = spawn(async {
        for _ in 0..300 {
            consume_budget().await;
        }
    });
    let mut kept = Vec::new();
    let keeps = spawn(poll_fn(move |cx| {
        kept.push(cx.waker().clone());
        Poll::<()>::Pending
    }));
    spawn(poll_fn(|cx| {
        drop(cx.waker().clone());
        Poll::<()>::Pending
    }));
    ended(by_reference).await;
    ended(by_value).await;
    ended(yields).await;
    ended(uses_its_budget).await;
    assert!(!keeps.is_finished());
}

/// Is pending three times, and calls `wake` each time.
fn thrice(wake: fn(&std::task::Waker)) -> impl Future<Output = ()> {
    let mut left = 3;
    poll_fn(move |cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        wake(cx.waker());
        Poll::Pending
    })
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Sleeps that end, that are set again, and that are dropped; limits that are met, and that are
/// not.
async fn sleeps() {
    let first = spawn(async { sleep(ms(20)).await });
    let second = spawn(async { sleep(ms(10)).await });
    let set_again = spawn(async {
        let mut sleep = pin!(sleep(ms(5)));
        poll_once(sleep.as_mut()).await;
        sleep.as_mut().reset(Instant::now() + ms(30));
        sleep.await;
    });
    let late = spawn(async { assert!(timeout(ms(7), pending::<()>()).await.is_err()) });
    let in_time = spawn(async { assert!(timeout(ms(50), sleep(ms(8))).await.is_ok()) });
    spawn(async {
        let mut dropped = Box::pin(sleep(ms(1000)));
        poll_once(dropped.as_mut()).await;
        drop(dropped);
        drop(sleep(ms(2000)));
    });
    for task in [first, second, set_again, late, in_time] {
        ended(task).await;
    }
    spawn(async { sleep(ms(3600)).await });
    yield_now().await;
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) {
    poll_fn(|cx| {
        assert!(future.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
}

/// Ticks of two tasks, and an interval that is reset.
async fn intervals() {
    let ticks = spawn(async {
        let mut interval = interval(ms(10));
        for _ in 0..3 {
            interval.tick().await;
        }
    });
    let later = spawn(async {
        let mut interval = interval_at(Instant::now() + ms(15), ms(100));
        interval.tick().await;
        interval.reset();
        interval.tick().await;
    });
    ended(ticks).await;
    ended(later).await;
}

/// Locks that are free, that are waited for, and that are given up.
async fn locks() {
    let mutex = Arc::new(Mutex::new(0));
    let guard = mutex.lock().await;
    let tasks: Vec<_> = (0..2).map(|_| (mutex.clone(), mutex.clone())).collect();
    let tasks: Vec<_> = tasks
        .into_iter()
        .map(|(mutex, again)| {
            spawn(async move {
                *mutex.lock().await += 1;
                drop(again.lock_owned().await);
            })
        })
        .collect();
    yield_now().await;
    assert!(mutex.try_lock().is_err());
    poll_once(pin!(mutex.lock())).await;
    drop(guard);
    for task in tasks {
        ended(task).await;
    }
    let lock = Arc::new(RwLock::new(0));
    let reads = lock.read().await;
    let (writer, reader) = (lock.clone(), lock.clone());
    let writes = spawn(async move { *writer.write().await += 1 });
    let reads_later = spawn(async move { drop(reader.read_owned().await) });
    yield_now().await;
    drop(reads);
    ended(writes).await;
    ended(reads_later).await;
    drop(lock.write_owned().await);
    assert_eq!(*mutex.lock().await, 2);
}

/// Permits that are waited for, a semaphore that is closed, and a barrier.
async fn semaphores() {
    let semaphore = Arc::new(Semaphore::new(2));
    let (one, other) = (semaphore.clone(), semaphore.clone());
    let takes = spawn(async move { drop(one.acquire_many(3).await) });
    let owns = spawn(async move { drop(other.acquire_owned().await) });
    yield_now().await;
    semaphore.add_permits(1);
    ended(takes).await;
    ended(owns).await;
    let closed = semaphore.clone();
    let fails = spawn(async move { assert!(closed.acquire_many(100).await.is_err()) });
    yield_now().await;
    semaphore.close();
    ended(fails).await;
    let barrier = Arc::new(Barrier::new(2));
    let waits = [barrier.clone(), barrier].map(|barrier| {
        spawn(async move {
            barrier.wait().await;
        })
    });
    for task in waits {
        ended(task).await;
    }
}

/// Channels, most of which are no resources, and `Notify`.
async fn channels() {
    let (sender, receiver) = oneshot::channel();
    let receives = spawn(async { assert_eq!(receiver.await, Ok(1)) });
    yield_now().await;
    sender.send(1).expect("the receiver waits");
    ended(receives).await;
    let (mut sender, receiver) = oneshot::channel::<()>();
    let closed = spawn(async move { sender.closed().await });
    yield_now().await;
    drop(receiver);
    ended(closed).await;
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let sends = spawn(async move {
        for number in 0..3 {
            sender.send(number).await.expect("the receiver waits");
        }
    });
    while receiver.recv().await.is_some() {}
    ended(sends).await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let receives = spawn(async move { while receiver.recv().await.is_some() {} });
    yield_now().await;
    sender.send(1).expect("the receiver waits");
    drop(sender);
    ended(receives).await;
    let (sender, mut receiver) = watch::channel(0);
    let sees = spawn(async move { receiver.changed().await.expect("the sender exists") });
    yield_now().await;
    sender.send_replace(1);
    ended(sees).await;
    let (sender, mut receiver) = broadcast::channel(2);
    let hears = spawn(async move { receiver.recv().await.expect("the sender exists") });
    yield_now().await;
    sender.send(1).expect("the receiver waits");
    ended(hears).await;
    let notify = Arc::new(Notify::new());
    let notified = notify.clone();
    let waits = spawn(async move { notified.notified().await });
    yield_now().await;
    notify.notify_one();
    ended(waits).await;
}

/// A task that blocks its thread while another one goes on, on two threads.
fn blocks(dispatch: &Dispatch, console: &mut Console) -> String {
    let runtime = with_subscriber(Builder::new_multi_thread().worker_threads(2).enable_all(), dispatch);
    let (unblock, blocked) = mpsc::channel::<()>();
    dispatcher::with_default(dispatch, || {
        let blocking = runtime.block_on(Box::pin(async { beside_a_blocked_task(blocked) }));
        console.wait_until(|view| view.tasks().iter().any(|task| task.name == "goes on" && task.has_ended));
        let shown = shown(console, false);
        unblock.send(()).expect("the task waits");
        runtime.block_on(ended(blocking));
        shown
    })
}

/// Waits without a future, so that the number of polls of the program's future is fixed.
fn beside_a_blocked_task(blocked: mpsc::Receiver<()>) -> JoinHandle<()> {
    let (begins, begun) = mpsc::channel();
    let blocks = named!("blocks", async move {
        begins.send(()).expect("the program waits");
        blocked.recv().expect("the program ends this");
    });
    begun.recv().expect("the task begins");
    let (waits, waiting) = mpsc::channel();
    let notify = Arc::new(Notify::new());
    let notified = notify.clone();
    named!("goes on", async move {
        let mut notified = pin!(notified.notified());
        poll_fn(|cx| {
            let polled = notified.as_mut().poll(cx);
            // After the end, no thread receives.
            let _ = waits.send(());
            polled
        })
        .await;
    });
    waiting.recv().expect("the task is polled");
    notify.notify_one();
    blocks
}
