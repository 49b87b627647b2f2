//! `LocalSet`: its tasks run and end on one thread, whoever wakes them.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::task::{self, JoinSet, LocalSet, spawn_local, yield_now};
use gmp_exec::time::{sleep, timeout};
use tokio::sync::oneshot;

fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ]
}

// ---- running ----

#[test]
fn tasks_run_on_the_thread_of_the_set() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let here = thread::current().id();
        let outside = set.spawn_local(async { thread::current().id() });
        let inside = set.block_on(&runtime, async {
            let task = spawn_local(async {
                sleep(Duration::from_millis(1)).await;
                thread::current().id()
            });
            soon(task).await.unwrap()
        });
        assert_eq!(inside, here);
        assert_eq!(runtime.block_on(set.run_until(outside)).unwrap(), here);
    }
}

#[test]
fn a_local_task_can_use_the_runtime() {
    for runtime in runtimes() {
        let sum = LocalSet::new().block_on(&runtime, async {
            let local = spawn_local(async {
                let spawned = gmp_exec::spawn(async { 1 });
                let blocking = task::spawn_blocking(|| 2);
                spawned.await.unwrap() + blocking.await.unwrap()
            });
            soon(local).await.unwrap()
        });
        assert_eq!(sum, 3);
    }
}

#[test]
fn an_awaited_set_is_ready_when_all_tasks_have_ended() {
    for runtime in runtimes() {
        let count = Rc::new(Cell::new(0));
        let set = LocalSet::new();
        for number in 0..100 {
            let count = count.clone();
            set.spawn_local(async move {
                if number % 3 == 0 {
                    sleep(Duration::from_millis(number / 10)).await;
                }
                let nested = count.clone();
                spawn_local(async move { nested.set(nested.get() + 1) });
                count.set(count.get() + 1);
            });
        }
        runtime.block_on(soon(set));
        assert_eq!(count.get(), 200);
    }
}

#[gmp_exec::test]
async fn an_empty_set_is_ready_at_once() {
    assert!(LocalSet::new().now_or_never().is_some());
    assert_eq!(LocalSet::default().run_until(ready(1)).now_or_never(), Some(1));
}

#[gmp_exec::test]
async fn tasks_that_are_left_go_on_at_the_next_poll() {
    let set = LocalSet::new();
    let (trigger, triggered) = oneshot::channel::<()>();
    let task = set.spawn_local(async { triggered.await.unwrap() });
    set.run_until(yield_now()).await;
    trigger.send(()).unwrap();
    assert!(!task.is_finished());
    soon(set.run_until(task)).await.unwrap();
}

#[test]
fn a_set_needs_no_runtime() {
    let set = LocalSet::new();
    let task = set.spawn_local(async {
        yield_now().await;
        5
    });
    assert_eq!(futures::executor::block_on(set.run_until(task)).unwrap(), 5);
}

#[test]
fn local_tasks_run_in_the_order_in_which_they_were_scheduled() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let set = LocalSet::new();
    for number in 0..200 {
        let order = order.clone();
        set.spawn_local(async move {
            order.borrow_mut().push(number);
            yield_now().await;
            order.borrow_mut().push(1000 + number);
        });
    }
    runtimes()[0].block_on(soon(set));
    assert_eq!(*order.borrow(), (0..200).chain(1000..1200).collect::<Vec<_>>());
}

#[gmp_exec::test]
async fn a_panic_becomes_a_join_error_and_the_set_goes_on() {
    let set = LocalSet::new();
    let error = set.run_until(async { spawn_local(async { panic!("boom") }).await.unwrap_err() }).await;
    assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "boom");
    assert_eq!(set.run_until(async { spawn_local(async { 1 }).await.unwrap() }).await, 1);
}

// ---- fairness ----

#[test]
fn a_busy_set_does_not_hold_up_others() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        for _ in 0..100 {
            set.spawn_local(forever_busy());
        }
        set.block_on(&runtime, async {
            let slept = spawn_local(sleep(Duration::from_millis(2)));
            let spawned = gmp_exec::spawn(async {
                for _ in 0..100 {
                    yield_now().await;
                }
                sleep(Duration::from_millis(2)).await;
            });
            soon(async {
                spawned.await.unwrap();
                slept.await.unwrap();
                task::spawn_blocking(|| ()).await.unwrap();
            })
            .await;
        });
    }
}

#[test]
fn a_task_that_is_always_ready_does_not_hold_up_others() {
    let set = LocalSet::new();
    set.spawn_local(async {
        loop {
            task::consume_budget().await;
        }
    });
    let other = set.spawn_local(yield_now());
    set.block_on(&runtimes()[0], soon(other)).unwrap();
}

#[test]
fn a_poll_of_the_set_polls_a_bounded_number_of_tasks() {
    let polls = Rc::new(Cell::new(0));
    let mut set = pin!(LocalSet::new());
    let counted = polls.clone();
    set.spawn_local(async move {
        loop {
            counted.set(counted.get() + 1);
            yield_now().await;
        }
    });
    let wakes = Arc::new(CountWakes::default());
    let waker = Waker::from(wakes.clone());
    for round in 1..=3 {
        assert!(set.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!((polls.get(), wakes.count()), (61 * round, round));
    }
}

#[test]
fn wake_ups_from_outside_get_through_to_a_busy_set() {
    let set = LocalSet::new();
    for _ in 0..100 {
        set.spawn_local(forever_busy());
    }
    let (mut triggers, mut waiters) = (Vec::new(), Vec::new());
    for _ in 0..1000 {
        let (trigger, triggered) = oneshot::channel::<()>();
        triggers.push(trigger);
        waiters.push(set.spawn_local(async { triggered.await.unwrap() }));
    }
    let sender = thread::spawn(move || triggers.into_iter().for_each(|trigger| trigger.send(()).unwrap()));
    set.block_on(&runtimes()[1], soon(futures::future::join_all(waiters)));
    sender.join().unwrap();
}

// ---- what is current ----

#[test]
fn spawn_local_outside_of_a_set_panics() {
    let message = "`spawn_local` called from outside of a `task::LocalSet` or `runtime::LocalRuntime`";
    let outside = || panic_message(|| drop(spawn_local(async {})));
    assert_eq!(outside(), message);
    for runtime in runtimes() {
        runtime.block_on(async {
            assert_eq!(outside(), message);
            let set = LocalSet::new();
            set.run_until(async {}).await;
            assert_eq!(outside(), message);
            let in_a_spawned_task = set.run_until(async {
                let outside = || panic_message(|| drop(spawn_local(async {})));
                gmp_exec::spawn(async move { outside() }).await.unwrap()
            });
            assert_eq!(in_a_spawned_task.await, message);
        });
    }
}

#[test]
fn an_entered_set_is_where_spawn_local_spawns() {
    let (outer, inner) = (LocalSet::new(), LocalSet::new());
    let outer_guard = outer.enter();
    let inner_guard = inner.enter();
    let on_inner = spawn_local(async {});
    drop(inner_guard);
    let on_outer = spawn_local(async {});
    drop(outer_guard);
    panic_message(|| drop(spawn_local(async {})));

    let runtime = &runtimes()[0];
    outer.block_on(runtime, async { soon(on_outer).await.unwrap() });
    assert!(!on_inner.is_finished());
    inner.block_on(runtime, async { soon(on_inner).await.unwrap() });
}

/// The guard outlives the poll in which it was made. Restoring what was current then must not make the set believe that
/// it is being polled still: a wake-up would be put where nobody looks.
#[gmp_exec::test]
async fn a_guard_that_leaves_the_poll_loses_no_wake_up() {
    let set = Rc::new(LocalSet::new());
    let (trigger, triggered) = oneshot::channel::<()>();
    let other = LocalSet::new();
    let guard = set.run_until(async { other.enter() }).await;
    let task = set.spawn_local(async { triggered.await.unwrap() });
    let mut joined = pin!(set.run_until(task));
    assert!(poll_once(joined.as_mut()).await.is_pending());
    drop(guard);
    trigger.send(()).unwrap();
    soon(joined).await.unwrap();
}

#[test]
fn a_set_polled_inside_of_another_sets_task_wakes_both() {
    for runtime in runtimes() {
        let outer = LocalSet::new();
        let sum = outer.block_on(&runtime, async {
            let (to_outer, from_inner) = oneshot::channel();
            let task = spawn_local(async {
                let inner = LocalSet::new();
                inner.spawn_local(async {
                    yield_now().await;
                    // Wakes a task of the outer set while the inner one is current.
                    to_outer.send(1).unwrap();
                    sleep(Duration::from_millis(1)).await;
                });
                inner.await;
                2
            });
            let waiting = spawn_local(async { from_inner.await.unwrap() });
            soon(async { task.await.unwrap() + waiting.await.unwrap() }).await
        });
        assert_eq!(sum, 3);
    }
}

/// A task of the set polls the set.
#[gmp_exec::test]
async fn a_set_can_be_polled_from_inside_of_itself() {
    let set = Rc::new(LocalSet::new());
    let inside = set.clone();
    let task = set.spawn_local(async move {
        let nested = inside.spawn_local(async {
            yield_now().await;
            7
        });
        inside.run_until(nested).await.unwrap()
    });
    assert_eq!(soon(set.run_until(task)).await.unwrap(), 7);
}

#[test]
fn block_in_place_is_refused_inside_of_a_set() {
    let refused = "can call blocking only when running on the multi-threaded runtime";
    for runtime in runtimes() {
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            assert_eq!(panic_message(|| task::block_in_place(|| ())), refused);
            let error = spawn_local(async { task::block_in_place(|| ()) }).await.unwrap_err();
            assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), refused);
        });
        set.spawn_local(async move { assert_eq!(panic_message(|| task::block_in_place(|| ())), refused) });
        runtime.block_on(set);
    }
    runtimes()[1].block_on(async { assert_eq!(task::block_in_place(|| 3), 3) });
}

#[test]
fn blocking_on_another_future_is_refused_inside_of_a_set() {
    let runtime = &runtimes()[1];
    let message = LocalSet::new().block_on(runtime, async { panic_message(|| runtime.block_on(async {})) });
    assert!(message.starts_with("Cannot start a runtime from within a runtime."), "{message}");
}

#[test]
fn ids_tell_sets_and_runtimes_apart() {
    let runtime = &runtimes()[0];
    let (one, other) = (LocalSet::new(), LocalSet::new());
    assert_ne!(one.id(), other.id());
    assert_ne!(one.id(), runtime.handle().id());
    assert_eq!(one.id(), one.id());
}

#[test]
fn debug_shows_the_number_of_tasks() {
    let set = LocalSet::new();
    set.spawn_local(pending::<()>());
    assert_eq!(format!("{set:?}"), "LocalSet { tasks: 1 }");
    let task = set.spawn_local(async {});
    assert!(format!("{task:?}").starts_with("JoinHandle"));
}

// ---- ending ----

#[test]
fn dropping_the_set_drops_its_tasks_here() {
    for runtime in runtimes() {
        let ended = Rc::new(Cell::new(0));
        let set = LocalSet::new();
        let waiting = set.spawn_local(end_here(&ended));
        set.block_on(&runtime, yield_now());
        let not_begun = set.spawn_local(end_here(&ended));
        drop(set);
        assert_eq!(ended.get(), 2);
        for task in [waiting, not_begun] {
            assert!(task.now_or_never().unwrap().unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn a_task_spawned_while_the_set_ends_is_cancelled() {
    struct SpawnsInDrop(Rc<RefCell<Option<task::JoinHandle<()>>>>);
    impl Drop for SpawnsInDrop {
        fn drop(&mut self) {
            *self.0.borrow_mut() = Some(spawn_local(pending()));
        }
    }

    let spawned = Rc::new(RefCell::new(None));
    let set = LocalSet::new();
    let guard = SpawnsInDrop(spawned.clone());
    set.spawn_local(async move {
        let _guard = guard;
        pending::<()>().await
    });
    set.block_on(&runtimes()[0], yield_now());
    let entered = set.enter();
    drop(set);
    let late = spawn_local(pending::<()>());
    drop(entered);

    let spawned = spawned.borrow_mut().take().unwrap();
    for task in [spawned, late] {
        assert!(task.now_or_never().unwrap().unwrap_err().is_cancelled());
    }
}

#[test]
fn destructors_may_wake_and_abort_other_tasks_of_the_set() {
    let runtime = &runtimes()[0];
    let set = LocalSet::new();
    let ended = Rc::new(Cell::new(0));
    let others = [(); 3].map(|()| set.spawn_local(end_here(&ended)).abort_handle());
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn_local(async move {
        let _guard = OnDrop(Some(move || {
            others.iter().for_each(|other| other.abort());
            drop(trigger);
        }));
        pending::<()>().await
    });
    set.spawn_local(async move {
        let _ = triggered.await;
    });
    set.block_on(runtime, yield_now());
    drop(set);
    assert_eq!(ended.get(), 3);
}

#[test]
fn a_panic_in_a_destructor_does_not_leave_the_drop_of_the_set() {
    let set = LocalSet::new();
    let panicking = set.spawn_local(async {
        let _guard = OnDrop(Some(|| panic!("in drop")));
        pending::<()>().await
    });
    let ended = Rc::new(Cell::new(0));
    set.spawn_local(end_here(&ended));
    set.block_on(&runtimes()[0], yield_now());
    drop(set);
    assert_eq!(ended.get(), 1);
    assert!(panicking.now_or_never().unwrap().unwrap_err().is_panic());
}

#[test]
fn a_set_outlives_its_runtime() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let ended = Rc::new(Cell::new(0));
        let waiting = set.spawn_local(end_here(&ended));
        let slept = set.spawn_local(sleep_for_an_hour());
        let (trigger, triggered) = oneshot::channel();
        let received = set.spawn_local(triggered);
        set.block_on(&runtime, yield_now());
        drop(runtime);

        trigger.send(4).unwrap();
        assert_eq!(futures::executor::block_on(set.run_until(received)).unwrap(), Ok(4));
        let error = futures::executor::block_on(set.run_until(slept)).unwrap_err();
        assert!(error.to_string().contains("it is being shutdown"), "{error}");
        drop(set);
        assert_eq!(ended.get(), 1);
        assert!(waiting.now_or_never().unwrap().unwrap_err().is_cancelled());
    }
}

async fn sleep_for_an_hour() {
    sleep(Duration::from_secs(3600)).await;
}

#[test]
fn a_set_may_end_with_its_thread() {
    thread_local! {
        static SET: LocalSet = LocalSet::new();
    }
    let (report, reports) = mpsc::channel();
    thread::spawn(move || {
        SET.with(|set| {
            set.spawn_local(async move {
                let _guard = OnDrop(Some(move || report.send(thread::current().id()).unwrap()));
                pending::<()>().await
            });
            let _ = set.run_until(yield_now()).now_or_never();
        });
        thread::current().id()
    })
    .join()
    .map(|id| assert_eq!(reports.recv_timeout(Duration::from_secs(30)).unwrap(), id))
    .unwrap();
}

#[test]
fn local_tasks_can_be_aborted_from_another_thread() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let ended = Rc::new(Cell::new(0));
        let by_abort_handle = set.spawn_local(end_here(&ended));
        let by_handle = set.spawn_local(end_here(&ended));
        set.block_on(&runtime, yield_now());

        let abort = by_abort_handle.abort_handle();
        let by_handle = thread::spawn(move || {
            abort.abort();
            by_handle.abort();
            by_handle
        });
        let by_handle = by_handle.join().unwrap();
        assert_eq!(ended.get(), 0, "a future was dropped on another thread");
        for task in [by_abort_handle, by_handle] {
            assert!(set.block_on(&runtime, soon(task)).unwrap_err().is_cancelled());
        }
        assert_eq!(ended.get(), 2);
    }
}

#[test]
fn handles_may_outlive_the_set_on_another_thread() {
    let set = LocalSet::new();
    let rc = Rc::new(3);
    let task = set.spawn_local(async move { *rc });
    let abort = task.abort_handle();
    set.block_on(&runtimes()[0], yield_now());
    drop(set);
    let output = thread::spawn(move || {
        abort.abort();
        assert!(abort.is_finished());
        task.now_or_never().unwrap()
    });
    assert_eq!(output.join().unwrap().unwrap(), 3);
}

#[gmp_exec::test]
async fn local_tasks_join_in_a_join_set() {
    let set = LocalSet::new();
    let mut joined = JoinSet::new();
    for number in 0..300 {
        let rc = Rc::new(number);
        joined.spawn_local_on(
            async move {
                yield_now().await;
                *rc
            },
            &set,
        );
    }
    let outputs = soon(set.run_until(joined.join_all())).await;
    assert_eq!(outputs.into_iter().sum::<u32>(), (0..300).sum());
}

// ---- stress ----

/// Every task panics in its destructor (which ends the test) if it is dropped by another thread.
#[test]
fn wakers_on_other_threads_never_drop_a_task_of_a_set_that_ends() {
    const TASKS: usize = 4;
    const ROUNDS: usize = if cfg!(debug_assertions) { 3_000 } else { 20_000 };

    let (slots, wrong_threads) = (Arc::new(Slots::default()), Arc::new(AtomicUsize::new(0)));
    let go_on = Arc::new(AtomicBool::new(true));
    let begin = Arc::new(Barrier::new(3));
    let wakers: Vec<_> = (0..2)
        .map(|_| {
            let (slots, go_on, begin) = (slots.clone(), go_on.clone(), begin.clone());
            thread::spawn(move || {
                begin.wait();
                while go_on.load(Ordering::Relaxed) {
                    slots.wake_all();
                }
            })
        })
        .collect();

    begin.wait();
    let mut ended = 0;
    for round in 0..ROUNDS {
        let set = LocalSet::new();
        let live = Rc::new(Cell::new(0));
        for slot in 0..TASKS {
            let guard = OnThread { id: thread::current().id(), live: live.clone(), wrong: wrong_threads.clone() };
            live.set(live.get() + 1);
            let slots = slots.clone();
            let task = set.spawn_local(async move {
                let _guard = guard;
                poll_fn(|cx| {
                    slots.put(slot, cx.waker());
                    Poll::<()>::Pending
                })
                .await
            });
            if slot == 0 {
                // Owners of a handle elsewhere are no different.
                drop(task);
            }
        }
        for _ in 0..round % 4 {
            let _ = set.run_until(pending::<()>()).now_or_never();
        }
        drop(set);
        assert_eq!(live.get(), 0, "the drop of the set is the end of its tasks");
        ended += TASKS;
    }
    go_on.store(false, Ordering::Relaxed);
    wakers.into_iter().for_each(|waker| waker.join().unwrap());
    assert_eq!((ended, wrong_threads.load(Ordering::SeqCst)), (TASKS * ROUNDS, 0));
}

/// Local tasks and tasks of the runtime pass messages to each other and back.
#[test]
fn no_wake_up_between_threads_is_lost() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let rounds = set.block_on(&runtime, async {
            let tasks: Vec<_> = (0..50)
                .map(|_| {
                    spawn_local(async {
                        let mut rounds = Rc::new(0);
                        for _ in 0..200 {
                            let (to, from) = oneshot::channel();
                            gmp_exec::spawn(async move { to.send(1).unwrap() });
                            *Rc::get_mut(&mut rounds).unwrap() += from.await.unwrap();
                        }
                        *rounds
                    })
                })
                .collect();
            let mut sum = 0;
            for task in tasks {
                sum += soon(task).await.unwrap();
            }
            sum
        });
        assert_eq!(rounds, 50 * 200);
    }
}

/// The wakers of the tasks of the current round.
#[derive(Default)]
struct Slots([Mutex<Option<Waker>>; 4]);

impl Slots {
    fn put(&self, slot: usize, waker: &Waker) {
        let old = self.0[slot].lock().unwrap().replace(waker.clone());
        drop(old);
    }

    fn wake_all(&self) {
        for slot in &self.0 {
            let waker = slot.lock().unwrap().clone();
            waker.inspect(Waker::wake_by_ref);
        }
    }
}

/// Notes where it is dropped.
struct OnThread {
    id: ThreadId,
    live: Rc<Cell<usize>>,
    wrong: Arc<AtomicUsize>,
}

impl Drop for OnThread {
    fn drop(&mut self) {
        if thread::current().id() == self.id {
            self.live.set(self.live.get() - 1);
        } else {
            self.wrong.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().unwrap()();
    }
}

/// Never ends by itself, and counts when it is dropped.
fn end_here(ended: &Rc<Cell<u32>>) -> impl Future<Output = ()> + 'static {
    let guard = OnDrop(Some(count_here(ended)));
    async move {
        let _guard = guard;
        pending().await
    }
}

fn count_here(ended: &Rc<Cell<u32>>) -> impl FnOnce() + 'static {
    let ended = ended.clone();
    move || ended.set(ended.get() + 1)
}

async fn forever_busy() {
    loop {
        yield_now().await;
    }
}

fn panic_message(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it should panic");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}

async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// A generous deadline: only a lost wake-up reaches it.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("it takes forever")
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
