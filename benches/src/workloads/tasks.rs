//! Spawning, yielding and waking; and closures that return at once though they may block.

use std::future::pending;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::countdown::{Countdown, crowd};
use crate::rt::{Rt, Twin, in_task};

pub(super) const SPAWNED: u32 = 10_000;
pub(super) const SPAWNED_MANY: u32 = 1_000_000;
pub(super) const PINGS: u32 = 1_000;
pub(super) const DEPTH: u32 = 1_000;
pub(super) const YIELDS: u32 = YIELDING * YIELDS_EACH;
const YIELDING: u32 = 200;
const YIELDS_EACH: u32 = 1_000;

pub(super) fn spawn_local<R: Rt>(rt: &R) -> Duration {
    crowd(rt, SPAWNED, |_, countdown| async move { countdown.decrement() })
}

/// A million of them.
pub(super) fn spawn_many<R: Rt>(rt: &R) -> Duration {
    crowd(rt, SPAWNED_MANY, |_, countdown| async move { countdown.decrement() })
}

pub(super) fn spawn_remote<R: Rt>(rt: &R) -> Duration {
    let countdown = Countdown::new(SPAWNED);
    let start = Instant::now();
    for _ in 0..SPAWNED {
        let countdown = countdown.clone();
        drop(rt.spawn_remote(async move { countdown.decrement() }));
    }
    rt.block_on(countdown.finished());
    start.elapsed()
}

pub(super) fn spawn_join<R: Rt>(rt: &R) -> Duration {
    let mut handles = Vec::with_capacity(SPAWNED as usize);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..SPAWNED {
            handles.push(R::spawn(async {}));
        }
        for handle in handles.drain(..) {
            handle.await.expect("an empty task doesn't panic");
        }
        start.elapsed()
    })
}

/// The same with a `JoinSet`.
pub(super) fn join_set<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        R::join_set(SPAWNED).await;
        start.elapsed()
    })
}

/// One task aborts 10 000 that wait, and awaits their handles.
pub(super) fn abort<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let waiting: Vec<_> = (0..SPAWNED).map(|_| R::spawn(pending::<()>())).collect();
        R::yield_now().await;
        let start = Instant::now();
        waiting.iter().for_each(R::abort);
        for handle in waiting {
            handle.await.expect_err("it waits for ever");
        }
        start.elapsed()
    })
}

pub(super) fn yield_many<R: Rt>(rt: &R) -> Duration {
    crowd(rt, YIELDING, |_, countdown| async move {
        for _ in 0..YIELDS_EACH {
            R::yield_now().await;
        }
        countdown.decrement();
    })
}

pub(super) fn ping_pong<R: Rt>(rt: &R) -> Duration {
    crowd(rt, PINGS, |_, countdown| async move {
        let (ping, pinged) = oneshot::channel();
        let (pong, ponged) = oneshot::channel();
        drop(R::spawn(async move {
            pinged.await.expect("the task sends before it waits");
            pong.send(()).expect("the task waits for its peer");
        }));
        ping.send(()).expect("the peer waits for the task");
        ponged.await.expect("the peer answers");
        countdown.decrement();
    })
}

pub(super) fn chained_spawn<R: Rt>(rt: &R) -> Duration {
    let (last, finished) = oneshot::channel();
    in_task(rt, async move {
        let start = Instant::now();
        link::<R>(DEPTH, last);
        finished.await.expect("the last link reports");
        start.elapsed()
    })
}

fn link<R: Rt>(depth: u32, last: oneshot::Sender<()>) {
    if depth == 0 {
        last.send(()).expect("the first task waits for the last");
    } else {
        drop(R::spawn(async move { link::<R>(depth - 1, last) }));
    }
}

pub(super) const CLOSURES: u32 = 5_000;
pub(super) const IN_PLACE: u32 = 2_000;

pub(super) fn spawn_blocking<R: Rt>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for _ in 0..CLOSURES {
            R::spawn_blocking(|| ()).await.expect("an empty closure doesn't panic");
        }
        start.elapsed()
    })
}

/// The same with closures that leave their threads as they were.
pub(super) fn spawn_in_place<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for _ in 0..CLOSURES {
            R::spawn_in_place(|| ()).await.expect("an empty closure doesn't panic");
        }
        start.elapsed()
    })
}

/// One task runs 2 000 closures in place, on a runtime that has just been started.
///
/// On tokio the cost depends on whether the task still has its worker. A thread that has to be
/// started first comes too late for the worker, the task takes it back, and pays for every closure.
/// A thread that already exists comes in time, and a task that has lost its worker pays next to
/// nothing until its poll ends ([`warm`]). After a yield the task has a worker again
/// ([`yielding`]).
pub(super) fn fresh<R: Twin>(rt: &R) -> Duration {
    let fresh = R::new(rt.procs()).expect("a second runtime starts as the first did");
    let elapsed = warm(&fresh);
    fresh.shutdown();
    elapsed
}

/// The same on the runtime of all the other rounds.
pub(super) fn warm<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..IN_PLACE {
            R::block_in_place(|| black_box(number));
        }
        start.elapsed()
    })
}

pub(super) fn yielding<R: Twin>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for number in 0..IN_PLACE {
            R::block_in_place(|| black_box(number));
            R::yield_now().await;
        }
        start.elapsed()
    })
}
