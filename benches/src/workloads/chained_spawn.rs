//! A task spawns the next, 1 000 deep.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::rt::{Rt, in_task};

pub(super) const DEPTH: u32 = 1_000;

pub(super) fn round<R: Rt>(rt: &R) -> Duration {
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
