//! `JoinSet`: tasks are joined once each, as they finish, and end with the set.

use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::{AbortHandle, JoinSet, LocalSet, yield_now};
use gmp_exec::time::timeout;
use tokio::sync::oneshot;

#[gmp_exec::test]
async fn tasks_are_joined_in_the_order_in_which_they_finish() {
    let mut set = JoinSet::new();
    let mut tasks = [0, 1, 2, 3].map(|number| {
        let (trigger, triggered) = oneshot::channel();
        let task = set.spawn(async move {
            triggered.await.unwrap();
            number
        });
        (Some(trigger), task)
    });
    for number in [2, 0, 3, 1] {
        let (trigger, task) = &mut tasks[number];
        trigger.take().unwrap().send(()).unwrap();
        wait_until(|| task.is_finished()).await;
    }
    assert_eq!(set.len(), 4);

    assert_eq!(soon(set.join_all()).await, [2, 0, 3, 1]);
}

#[gmp_exec::test]
async fn tasks_that_finished_before_anyone_waited_come_in_their_order_too() {
    let mut set = JoinSet::new();
    let (release_first, released) = oneshot::channel::<()>();
    set.spawn(async move {
        released.await.unwrap();
        "spawned first"
    });
    let second = set.spawn(async { "spawned second" });
    wait_until(|| second.is_finished()).await;
    release_first.send(()).unwrap();

    assert_eq!(soon(set.join_all()).await, ["spawned second", "spawned first"]);
}

#[gmp_exec::test]
async fn an_empty_set_has_nothing_to_join() {
    let mut set = JoinSet::<()>::default();
    assert_eq!(set.len(), 0);
    assert!(set.is_empty());
    assert!(set.try_join_next().is_none());
    assert!(set.try_join_next_with_id().is_none());
    assert!(soon(set.join_next()).await.is_none());
    assert!(soon(set.join_next_with_id()).await.is_none());
    soon(set.shutdown()).await;
    assert!(soon(set.join_all()).await.is_empty());
}

#[gmp_exec::test]
async fn try_join_next_takes_what_has_finished_and_no_more() {
    let mut set = JoinSet::new();
    let finished = set.spawn(async { 1 });
    let endless = set.spawn(pending());
    assert!(set.try_join_next().is_none());
    wait_until(|| finished.is_finished()).await;

    assert_eq!(set.try_join_next().unwrap().unwrap(), 1);
    assert_eq!(set.len(), 1);
    assert!(set.try_join_next().is_none());

    endless.abort();
    wait_until(|| endless.is_finished()).await;
    assert!(set.try_join_next_with_id().unwrap().unwrap_err().is_cancelled());
    assert!(set.is_empty());
}

#[gmp_exec::test]
async fn every_result_carries_the_id_of_its_task() {
    let mut set = JoinSet::new();
    let good = set.spawn(async { "good" }).id();
    assert_eq!(soon(set.join_next_with_id()).await.unwrap().unwrap(), (good, "good"));

    let aborted = set.spawn(pending());
    aborted.abort();
    let error = soon(set.join_next_with_id()).await.unwrap().unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(error.id(), aborted.id());

    let panicking = set.spawn(async { panic!("on purpose") }).id();
    let error = soon(set.join_next_with_id()).await.unwrap().unwrap_err();
    assert!(error.is_panic());
    assert_eq!(error.id(), panicking);
}

#[gmp_exec::test]
async fn dropping_the_set_aborts_its_tasks() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    for _ in 0..8 {
        let guard = CountDrop(Arc::clone(&dropped));
        set.spawn(async move {
            let _guard = guard;
            pending::<()>().await
        });
    }
    yield_now().await;
    drop(set);
    wait_until(|| dropped.load(Ordering::SeqCst) == 8).await;
}

#[gmp_exec::test]
async fn detached_tasks_go_on_without_the_set() {
    let (trigger, triggered) = oneshot::channel::<()>();
    let (report, reported) = oneshot::channel();
    let mut set = JoinSet::new();
    set.spawn(async move {
        triggered.await.unwrap();
        report.send("still here").unwrap();
    });
    set.detach_all();
    assert!(set.is_empty());
    assert!(set.try_join_next().is_none());
    drop(set);

    trigger.send(()).unwrap();
    assert_eq!(soon(reported).await.unwrap(), "still here");
}

#[gmp_exec::test]
async fn a_detached_task_that_finishes_is_not_joined_in_the_place_of_a_later_one() {
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel();
    let detached = set.spawn(async move { triggered.await.unwrap() });
    set.detach_all();
    // The new task gets the slot of the detached one.
    set.spawn(pending());
    trigger.send("detached").unwrap();
    wait_until(|| detached.is_finished()).await;
    assert!(set.try_join_next().is_none());
    assert_eq!(set.len(), 1);
}

#[gmp_exec::test]
async fn shutdown_waits_until_every_task_has_ended() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    for number in 0..8 {
        let guard = CountDrop(Arc::clone(&dropped));
        set.spawn(async move {
            let _guard = guard;
            assert_ne!(number, 3, "a panic that shutdown ignores");
            pending::<()>().await
        });
    }
    yield_now().await;
    soon(set.shutdown()).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 8);
    assert!(set.is_empty());
}

#[gmp_exec::test]
async fn aborted_tasks_stay_in_the_set_to_be_joined() {
    let mut set = JoinSet::new();
    set.spawn(pending::<()>());
    set.spawn(pending());
    set.abort_all();
    set.abort_all();
    assert_eq!(set.len(), 2);
    for _ in 0..2 {
        assert!(soon(set.join_next()).await.unwrap().unwrap_err().is_cancelled());
    }
    assert!(soon(set.join_next()).await.is_none());
}

#[gmp_exec::test]
async fn a_set_goes_on_after_it_was_aborted() {
    let mut set = JoinSet::new();
    set.spawn(pending());
    set.abort_all();
    set.spawn(async { 5 });
    let mut cancelled = 0;
    let mut outputs = Vec::new();
    while let Some(result) = soon(set.join_next()).await {
        match result {
            Ok(output) => outputs.push(output),
            Err(error) => cancelled += usize::from(error.is_cancelled()),
        }
    }
    assert_eq!((outputs, cancelled), (vec![5], 1));
}

#[gmp_exec::test]
async fn join_all_passes_a_panic_on_and_aborts_the_rest() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut set = JoinSet::new();
    let guard = CountDrop(Arc::clone(&dropped));
    set.spawn(async move {
        let _guard = guard;
        pending::<()>().await
    });
    set.spawn(async { panic!("the reason") });

    let payload = soon(AssertUnwindSafe(set.join_all()).catch_unwind()).await.unwrap_err();
    assert_eq!(*payload.downcast::<&str>().unwrap(), "the reason");
    wait_until(|| dropped.load(Ordering::SeqCst) == 1).await;
}

#[gmp_exec::test]
async fn join_all_panics_on_an_aborted_task() {
    let mut set = JoinSet::new();
    let aborted = set.spawn(pending::<()>());
    aborted.abort();
    let payload = soon(AssertUnwindSafe(set.join_all()).catch_unwind()).await.unwrap_err();
    let message = payload.downcast::<String>().unwrap();
    assert!(message.contains("was cancelled"), "{message}");
}

#[gmp_exec::test]
async fn futures_can_be_collected_and_added() {
    let mut set: JoinSet<usize> = (0..3).map(ready).collect();
    set.extend((3..6).map(|number| async move { number }));
    assert_eq!(set.len(), 6);
    assert_eq!(format!("{set:?}"), "JoinSet { len: 6 }");
    let mut outputs = soon(set.join_all()).await;
    outputs.sort_unstable();
    assert_eq!(outputs, [0, 1, 2, 3, 4, 5]);
}

#[gmp_exec::test]
async fn a_join_that_is_given_up_takes_no_task_out() {
    let mut set = JoinSet::new();
    let mut triggers = Vec::new();
    for number in 0..50 {
        let (trigger, triggered) = oneshot::channel::<()>();
        triggers.push(trigger);
        set.spawn(async move {
            triggered.await.unwrap();
            number
        });
    }
    let mut joined = Vec::new();
    for trigger in triggers {
        {
            let mut given_up = pin!(set.join_next());
            assert!(poll_once(given_up.as_mut()).await.is_pending());
        }
        trigger.send(()).unwrap();
        yield_now().await;
        joined.push(soon(set.join_next()).await.unwrap().unwrap());
    }
    assert_eq!(joined, (0..50).collect::<Vec<_>>());
}

#[gmp_exec::test]
async fn a_task_spawned_after_a_pending_poll_wakes_the_one_who_waits() {
    let mut set = JoinSet::new();
    set.spawn(pending());
    let wakes = Arc::new(CountWakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    assert!(set.poll_join_next(&mut cx).is_pending());

    set.spawn(async { "late" });
    wait_until(|| wakes.count() > 0).await;
    assert!(matches!(set.poll_join_next(&mut cx), Poll::Ready(Some(Ok("late")))));
}

#[gmp_exec::test]
async fn only_the_waker_of_the_last_poll_is_woken() {
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn(async move { triggered.await.unwrap() });
    let [first, last] = [(); 2].map(|()| Arc::new(CountWakes::default()));
    for wakes in [&first, &last] {
        let waker = Waker::from(Arc::clone(wakes));
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    }

    trigger.send(()).unwrap();
    wait_until(|| last.count() > 0).await;
    assert_eq!((first.count(), last.count()), (0, 1));
}

/// The waker's drop and wake call back into the set's queue: they abort a task of the set.
#[gmp_exec::test]
async fn wakers_may_wake_the_set_when_they_are_woken_and_dropped() {
    struct AbortsTasks(Mutex<Vec<AbortHandle>>);
    impl AbortsTasks {
        fn abort(&self) {
            self.0.lock().unwrap().iter().for_each(AbortHandle::abort);
        }
    }
    impl Wake for AbortsTasks {
        fn wake(self: Arc<Self>) {
            self.abort();
        }
    }
    impl Drop for AbortsTasks {
        fn drop(&mut self) {
            self.abort();
        }
    }

    let mut set = JoinSet::new();
    let tasks = [(); 3].map(|()| set.spawn(pending::<()>()));
    for task in tasks {
        let waker = Waker::from(Arc::new(AbortsTasks(Mutex::new(vec![task]))));
        // The next round's registration drops this round's waker.
        let _ = set.poll_join_next(&mut Context::from_waker(&waker));
    }
    let mut cancelled = 3 - set.len();
    set.abort_all();
    while let Some(result) = soon(set.join_next()).await {
        assert!(result.unwrap_err().is_cancelled());
        cancelled += 1;
    }
    assert_eq!(cancelled, 3);
}

/// async-task, under which a task's end wakes the set, would abort the process.
#[gmp_exec::test]
async fn a_waker_that_panics_hurts_nobody() {
    struct Panics(Arc<CountWakes>);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            Arc::clone(&self.0).wake();
            panic!("woken");
        }
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("dropped");
            }
        }
    }

    let wakes = Arc::new(CountWakes::default());
    let mut set = JoinSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn(async move { triggered.await.unwrap() });
    let waker = Waker::from(Arc::new(Panics(Arc::clone(&wakes))));
    assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    catch_unwind(AssertUnwindSafe(|| drop(waker))).unwrap();

    trigger.send(()).unwrap();
    wait_until(|| wakes.count() == 1).await;
    soon(set.join_next()).await.unwrap().unwrap();
}

#[gmp_exec::test]
async fn joining_many_finished_tasks_lets_other_tasks_run() {
    let mut set = JoinSet::new();
    let tasks: Vec<_> = (0..1_000).map(|_| set.spawn(ready(()))).collect();
    wait_until(|| tasks.iter().all(AbortHandle::is_finished)).await;
    let others = Arc::new(AtomicUsize::new(0));
    let mut other_tasks = JoinSet::new();
    let count = Arc::clone(&others);
    other_tasks.spawn(async move {
        loop {
            count.fetch_add(1, Ordering::SeqCst);
            yield_now().await;
        }
    });

    let joined = gmp_exec::spawn(async move {
        while let Some(result) = set.join_next().await {
            result.unwrap();
        }
    });
    soon(joined).await.unwrap();
    assert!(others.load(Ordering::SeqCst) >= 1_000 / 128, "{others:?}");
}

#[test]
fn tasks_are_spawned_on_the_runtime_that_is_named() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let mut set = JoinSet::new();
    let _ = set.spawn_on(async { thread::current().id() }, runtime.handle());
    let here = runtime.block_on(set.join_next()).unwrap().unwrap();
    assert_eq!(here, thread::current().id());

    set.spawn_blocking_on(|| thread::current().id(), runtime.handle());
    let elsewhere = runtime.block_on(set.join_next()).unwrap().unwrap();
    assert_ne!(elsewhere, thread::current().id());
}

#[gmp_exec::test]
async fn blocking_closures_are_joined() {
    let mut set = JoinSet::new();
    let barrier = Arc::new(Barrier::new(4));
    for _ in 0..4 {
        let barrier = Arc::clone(&barrier);
        set.spawn_blocking(move || barrier.wait().is_leader());
    }
    let leaders = soon(set.join_all()).await.into_iter().filter(|&leader| leader).count();
    assert_eq!(leaders, 1);
}

#[gmp_exec::test]
async fn local_tasks_are_joined() {
    let local_set = LocalSet::new();
    let mut set = JoinSet::new();
    let number = std::rc::Rc::new(4);
    let shared = std::rc::Rc::clone(&number);
    set.spawn_local_on(async move { *shared }, &local_set);
    let outputs = local_set.run_until(async move {
        set.spawn_local(async move { *number + 1 });
        soon(set.join_all()).await
    });
    assert_eq!(outputs.await, [4, 5]);
}

#[test]
fn spawning_outside_of_a_runtime_panics() {
    let mut set = JoinSet::new();
    let payload = catch_unwind(AssertUnwindSafe(|| set.spawn(async {}))).unwrap_err();
    let message = payload.downcast::<String>().unwrap();
    assert!(message.contains("there is no reactor running"), "{message}");
    assert!(set.is_empty());
}

#[test]
fn a_set_outlives_its_runtime() {
    let runtime = Runtime::new().unwrap();
    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), runtime.handle());
    drop(runtime);
    let result = set.join_next().now_or_never().expect("the runtime's end is the task's end");
    assert!(result.unwrap().unwrap_err().is_cancelled());
}

#[test]
fn no_task_is_lost_among_many_threads() {
    for processors in [1, 2, 8] {
        let runtime = Builder::new_multi_thread().worker_threads(processors).enable_time().build().unwrap();
        let joined = runtime.spawn(spawn_and_join_many());
        assert_eq!(runtime.block_on(soon(joined)).unwrap(), (0..10_000).sum::<u64>());
    }
}

async fn spawn_and_join_many() -> u64 {
    let mut set = JoinSet::new();
    let mut sum = 0;
    for round in 0..200_u64 {
        for number in 0..50_u64 {
            set.spawn(async move {
                for _ in 0..number % 4 {
                    yield_now().await;
                }
                round * 50 + number
            });
        }
        for _ in 0..40 {
            sum += set.join_next().await.unwrap().unwrap();
        }
    }
    while let Some(output) = set.join_next().await {
        sum += output.unwrap();
    }
    sum
}

/// The last use of a task, of its handle, of its abort handle and of the set come in any order.
#[test]
fn tasks_that_are_aborted_while_they_finish_are_joined_once() {
    for processors in [1, 2, 8] {
        let runtime = Builder::new_multi_thread().worker_threads(processors).enable_time().build().unwrap();
        let joined = runtime.spawn(async {
            let mut joined = 0;
            for round in 0..300 {
                let mut set = JoinSet::new();
                let mut tasks: Vec<_> = (0..20).map(|_| set.spawn(yield_now())).collect();
                let aborter = gmp_exec::spawn(async move {
                    tasks.rotate_left(round % 20);
                    tasks.iter().for_each(AbortHandle::abort);
                    tasks
                });
                while let Some(result) = set.join_next().await {
                    assert!(result.is_ok() || result.is_err_and(|error| error.is_cancelled()));
                    joined += 1;
                }
                assert!(aborter.await.unwrap().iter().all(AbortHandle::is_finished));
            }
            joined
        });
        assert_eq!(runtime.block_on(soon(joined)).unwrap(), 300 * 20);
    }
}

#[test]
fn a_set_is_send_and_sync_if_its_outputs_are_send() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<JoinSet<std::cell::Cell<u8>>>();
}

/// A generous deadline: only a lost wake-up reaches it.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("it takes forever")
}

async fn wait_until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            yield_now().await;
        }
    })
    .await;
}

async fn poll_once<F: Future>(mut future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

#[derive(Default)]
struct CountWakes(AtomicUsize);

impl CountWakes {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
