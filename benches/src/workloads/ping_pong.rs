//! 1 000 tasks; each spawns a peer and exchanges a message with it over two oneshots.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::countdown::Countdown;
use crate::rt::{Rt, in_task};

pub(super) const TASKS: u32 = 1_000;

pub(super) fn round<R: Rt>(rt: &R) -> Duration {
    let countdown = Countdown::new(TASKS);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            drop(R::spawn(ping::<R>(countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn ping<R: Rt>(countdown: Countdown) {
    let (ping, pinged) = oneshot::channel();
    let (pong, ponged) = oneshot::channel();
    drop(R::spawn(async move {
        pinged.await.expect("the task sends before it waits");
        pong.send(()).expect("the task waits for its peer");
    }));
    ping.send(()).expect("the peer waits for the task");
    ponged.await.expect("the peer answers");
    countdown.decrement();
}
