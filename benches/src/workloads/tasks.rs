//! Spawning, yielding and waking.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::countdown::{Countdown, crowd};
use crate::rt::{Rt, in_task};

pub(super) const SPAWNED: u32 = 10_000;
pub(super) const PINGS: u32 = 1_000;
pub(super) const DEPTH: u32 = 1_000;
pub(super) const YIELDS: u32 = YIELDING * YIELDS_EACH;
const YIELDING: u32 = 200;
const YIELDS_EACH: u32 = 1_000;

pub(super) fn spawn_local<R: Rt>(rt: &R) -> Duration {
    crowd(rt, SPAWNED, |_, countdown| async move { countdown.decrement() })
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
