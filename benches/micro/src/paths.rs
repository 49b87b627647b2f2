//! The hot paths: the operations that a program performs millions of times, each alone.
//!
//! A path runs a given number of operations inside one task. Work that is done once per run and not
//! per operation (starting the runtime, growing a queue) cancels out when a run is compared with a
//! run of twice as many operations.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::rt::{Flavor, Twin, in_task, join_all};

/// The number of operations is a multiple of this: some paths work in batches.
pub const BATCH: usize = 100;

/// The path that needs real time to pass: its count differs when the machine is busy.
pub const TIMER_EXPIRY: &str = "timer_expiry";

const LONG: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Path<L: Twin> {
    pub name: &'static str,
    /// The flavours on which the path runs the same code every time.
    pub flavors: &'static [Flavor],
    run: fn(&L, usize),
}

impl<L: Twin> Path<L> {
    /// Runs `operations` operations, a multiple of [`BATCH`].
    pub fn run(&self, runtime: &L, operations: usize) {
        assert!(operations % BATCH == 0, "{operations} is no multiple of {BATCH}");
        (self.run)(runtime, operations);
    }
}

const BOTH: &[Flavor] = &[Flavor::CurrentThread, Flavor::OneWorker];
const CURRENT_THREAD: &[Flavor] = &[Flavor::CurrentThread];
const ONE_WORKER: &[Flavor] = &[Flavor::OneWorker];

pub fn all<L: Twin>() -> Vec<Path<L>> {
    vec![
        Path { name: "spawn", flavors: BOTH, run: |rt, n| in_task(rt, spawn::<L>(n)) },
        Path { name: "spawn_join", flavors: BOTH, run: |rt, n| in_task(rt, spawn_join::<L>(n)) },
        Path { name: "spawn_await", flavors: BOTH, run: |rt, n| in_task(rt, spawn_await::<L>(n)) },
        Path { name: "wake", flavors: BOTH, run: |rt, n| in_task(rt, wake::<L>(n)) },
        Path { name: "wake_outside", flavors: CURRENT_THREAD, run: wake_outside::<L> },
        Path { name: "yield", flavors: BOTH, run: |rt, n| in_task(rt, yields::<L>(n)) },
        Path { name: "timer", flavors: BOTH, run: |rt, n| in_task(rt, timer::<L>(n)) },
        Path { name: "timeout", flavors: BOTH, run: |rt, n| in_task(rt, timeouts::<L>(n)) },
        Path { name: TIMER_EXPIRY, flavors: CURRENT_THREAD, run: |rt, n| in_task(rt, timer_expiry::<L>(n)) },
        Path { name: "block_in_place", flavors: ONE_WORKER, run: |rt, n| in_task(rt, block_in_place::<L>(n)) },
        Path { name: "spawn_in_place", flavors: ONE_WORKER, run: |rt, n| in_task(rt, spawn_in_place::<L>(n)) },
    ]
}

/// A task that is ready at once, handle dropped.
async fn spawn<L: Twin>(operations: usize) {
    for _ in 0..operations / BATCH {
        (0..BATCH).for_each(|_| drop(L::spawn(async {})));
        L::yield_now().await;
    }
}

/// A task that is ready at once, spawned with others and then awaited.
async fn spawn_join<L: Twin>(operations: usize) {
    for _ in 0..operations / BATCH {
        join_all::<L>((0..BATCH).map(|_| L::spawn(async {})).collect()).await;
    }
}

/// A task that is ready at once, awaited at once: the awaiting task sleeps and is woken by it.
async fn spawn_await<L: Twin>(operations: usize) {
    for _ in 0..operations {
        L::spawn(async {}).await.expect("the task does not panic");
    }
}

/// A waiting task is woken by another one, which then waits.
async fn wake<L: Twin>(operations: usize) {
    let calls: Arc<[Call; 2]> = Arc::default();
    let play = |player: usize| {
        let calls = calls.clone();
        async move {
            for _ in 0..operations / 2 {
                calls[player].wait().await;
                calls[1 - player].make();
            }
        }
    };
    calls[0].make();
    join_all::<L>(vec![L::spawn(play(0)), L::spawn(play(1))]).await;
}

/// A waiting task is woken from outside of the runtime. Waking and running alternate in batches, so
/// that the task is always waiting when it is woken.
fn wake_outside<L: Twin>(runtime: &L, operations: usize) {
    let calls = (0..BATCH).map(|_| Call::default()).collect();
    let crowd = Arc::new(Crowd { calls, ..Crowd::default() });
    let rounds = operations / BATCH;
    let tasks =
        runtime.block_on(async { (0..BATCH).map(|index| L::spawn(answer(index, crowd.clone(), rounds))).collect() });
    for _ in 0..rounds {
        crowd.calls.iter().for_each(Call::make);
        runtime.block_on(crowd.all_answered.wait());
    }
    runtime.block_on(join_all::<L>(tasks));
}

#[derive(Default)]
struct Crowd {
    calls: Vec<Call>,
    answers: AtomicUsize,
    all_answered: Call,
}

async fn answer(index: usize, crowd: Arc<Crowd>, rounds: usize) {
    for _ in 0..rounds {
        crowd.calls[index].wait().await;
        if (crowd.answers.fetch_add(1, Relaxed) + 1) % BATCH == 0 {
            crowd.all_answered.make();
        }
    }
}

async fn yields<L: Twin>(operations: usize) {
    let task = || async move {
        for _ in 0..operations / BATCH {
            L::yield_now().await;
        }
    };
    join_all::<L>((0..BATCH).map(|_| L::spawn(task())).collect()).await;
}

async fn timer<L: Twin>(operations: usize) {
    for _ in 0..operations {
        let mut sleep = pin!(L::sleep(LONG));
        poll_fn(|cx| {
            assert!(sleep.as_mut().poll(cx).is_pending(), "thirty seconds have not passed");
            Poll::Ready(())
        })
        .await;
    }
}

/// A timeout around a future that is ready at its second poll.
async fn timeouts<L: Twin>(operations: usize) {
    let task = || async move {
        for _ in 0..operations / BATCH {
            assert!(L::timeout(LONG, L::yield_now()).await.is_ok(), "thirty seconds have not passed");
        }
    };
    join_all::<L>((0..BATCH).map(|_| L::spawn(task())).collect()).await;
}

/// A task that sleeps until its timer fires. Usually all tasks go to sleep before the first one
/// wakes; on a worker with a thread of its own the count depends too much on when that thread runs.
async fn timer_expiry<L: Twin>(operations: usize) {
    const CROWD: usize = 10 * BATCH;
    let sleeper = |_| L::spawn(L::sleep(Duration::from_millis(100)));
    for done in (0..operations).step_by(CROWD) {
        join_all::<L>((0..CROWD.min(operations - done)).map(sleeper).collect()).await;
    }
}

/// A closure that returns at once and is run in place.
async fn block_in_place<L: Twin>(operations: usize) {
    (0..operations).for_each(|_| L::block_in_place(|| ()));
}

async fn spawn_in_place<L: Twin>(operations: usize) {
    for _ in 0..operations {
        L::spawn_in_place(|| ()).await.expect("the closure does not panic");
    }
}

/// A signal that one task awaits again and again, and that any thread may send. A channel would do
/// the same and be half of the count.
#[derive(Debug, Default)]
struct Call {
    made: AtomicBool,
    waiting: Mutex<Option<Waker>>,
}

impl Call {
    /// Waits until the call is made; the next wait is for the next call.
    async fn wait(&self) {
        poll_fn(|cx| {
            if self.take() {
                return Poll::Ready(());
            }
            match &mut *self.waiting() {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            // The call may have been made before the waker was stored.
            if self.take() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn make(&self) {
        self.made.store(true, Release);
        if let Some(waker) = &*self.waiting() {
            waker.wake_by_ref();
        }
    }

    fn take(&self) -> bool {
        self.made.load(Acquire) && self.made.swap(false, AcqRel)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().expect("nothing panics while it is held")
    }
}
