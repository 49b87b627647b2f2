//! Orders that real programs were seen to rely on, each tested on tokio and on gmp.

use std::collections::VecDeque;
use std::future::{Future, poll_fn, ready};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, pending, select};
use order_tests::{Ended, Gmp, Library, Tokio};
use tokio::sync::{Notify, oneshot};

/// The default `event_interval` of tokio and gmp.
const BATCH: u32 = 61;

fn run<L: Library, T>(future: impl Future<Output = T>) -> T {
    L::block_on(&L::current_thread(BATCH, 31), future)
}

fn count_up<L: Library>(count: &Arc<AtomicU32>) -> L::JoinHandle {
    let count = count.clone();
    L::spawn(async move {
        count.fetch_add(1, SeqCst);
    })
}

macro_rules! on_both {
    ($($(#[$doc:meta])* fn $name:ident<$L:ident>() $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn on<$L: Library>() $body
            on::<Tokio>();
            on::<Gmp>();
        }
    )*};
}

on_both! {
    fn a_batch_of_tasks_has_run_when_the_roots_yield_returns<L>() {
        run::<L, _>(async {
            let count = Arc::new(AtomicU32::new(0));
            (0..BATCH + 5).for_each(|_| drop(count_up::<L>(&count)));
            L::yield_now().await;
            assert_eq!(count.load(SeqCst), BATCH);
            L::yield_now().await;
            assert_eq!(count.load(SeqCst), BATCH + 5);
        });
    }

    /// tokio-util's `JoinQueue`, with `try_join_next`.
    fn tasks_are_finished_after_a_yield_of_the_root<L>() {
        run::<L, _>(async {
            let mut queue: VecDeque<_> = (0..10).map(|_| L::spawn(async {})).collect();
            L::yield_now().await;
            while let Some(handle) = queue.pop_front() {
                assert_eq!(handle.now_or_never(), Some(Ended::Well));
            }
        });
    }

    /// hyper-util's pool: the connection's task passes the last piece to the root and ends, and
    /// only then another task returns the connection to the pool.
    fn a_chain_of_tasks_ends_before_the_root_that_its_first_task_has_woken_goes_on<L>() {
        run::<L, _>(async {
            let (send, receive) = oneshot::channel();
            let (pool, has_ended) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
            let (pool_of_task, wait_for_end) = (pool.clone(), has_ended.clone());
            drop(L::spawn(async move {
                wait_for_end.notified().await;
                L::spawn(async move { pool_of_task.lock().unwrap().push("connection") }).await;
            }));
            drop(L::spawn(async move {
                send.send("the last piece").unwrap();
                has_ended.notify_one();
            }));
            receive.await.unwrap();
            assert_eq!(*pool.lock().unwrap(), ["connection"]);
        });
    }

    fn who_yielded_last_goes_on_first<L>() {
        run::<L, _>(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let tasks: Vec<_> = (0..3).map(|number| {
                let order = order.clone();
                L::spawn(async move {
                    L::yield_now().await;
                    order.lock().unwrap().push(number);
                })
            }).collect();
            futures::future::join_all(tasks).await;
            assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
        });
    }

    fn many_tasks_run_in_the_order_in_which_they_were_spawned<L>() {
        run::<L, _>(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let tasks: Vec<_> = (0..2_000).map(|number| {
                let order = order.clone();
                L::spawn(async move { order.lock().unwrap().push(number) })
            }).collect();
            futures::future::join_all(tasks).await;
            assert!(order.lock().unwrap().iter().copied().eq(0..2_000));
        });
    }

    fn a_task_that_aborts_itself_ends_with_its_poll<L>() {
        run::<L, _>(async {
            let (send, receive) = oneshot::channel();
            let order = Arc::new(Mutex::new(Vec::new()));
            let (of_task, of_next) = (order.clone(), order.clone());
            let task = L::spawn(async move {
                let _drop = OnDrop(of_task);
                let own: L::AbortHandle = receive.await.unwrap();
                L::yield_now().await;
                drop(L::spawn(async move { of_next.lock().unwrap().push("next") }));
                L::abort(&own);
                pending::<()>().await;
            });
            assert!(send.send(L::abort_handle(&task)).is_ok());
            assert_eq!(task.await, Ended::Cancelled);
            assert_eq!(*order.lock().unwrap(), ["dropped", "next"]);
        });
    }

    fn a_handle_that_is_dropped_wakes_nobody<L>() {
        run::<L, _>(async {
            let task = L::spawn(L::yield_now());
            assert!(matches!(select(task, ready(())).await, Either::Right(_)), "the task has not run yet");
            let mut polls = 0;
            let counted = poll_fn(|_| { polls += 1; Poll::<()>::Pending });
            drop(select(counted, L::sleep(Duration::from_millis(1)).boxed()).await);
            assert_eq!(polls, 2, "once at first and once for the timer");
        });
    }

    fn what_is_due_does_not_overtake_who_waits_for_the_clock<L>() {
        run::<L, _>(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let ours = order.clone();
            let task = L::spawn(async move {
                // The clock has advanced, but the runtime hasn't looked at the timers yet.
                L::sleep(Duration::ZERO).await;
                ours.lock().unwrap().push("sleep");
            });
            L::advance(Duration::from_millis(1)).await;
            order.lock().unwrap().push("advance");
            task.await;
            assert_eq!(*order.lock().unwrap(), ["advance", "sleep"]);
        });
    }
}

struct OnDrop(Arc<Mutex<Vec<&'static str>>>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("dropped");
    }
}
