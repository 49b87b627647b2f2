//! Other threads wake tasks of the set and are woken by them while the set runs and ends: no task
//! is lost, and none is dropped on another thread.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};

use futures::FutureExt;
use gmp_exec::task::{LocalSet, spawn_local};
use tokio::sync::oneshot;

use super::runtimes;
use crate::futures::soon;

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
                // The same with handles on other threads.
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

/// Records the thread that drops it.
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
