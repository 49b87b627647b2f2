//! One task spawns 10 000 and awaits every handle.

use std::time::{Duration, Instant};

use crate::rt::{Rt, in_task};

pub(super) const TASKS: u32 = 10_000;

pub(super) fn round<R: Rt>(rt: &R) -> Duration {
    let mut handles = Vec::with_capacity(TASKS as usize);
    in_task(rt, async move {
        let start = Instant::now();
        for _ in 0..TASKS {
            handles.push(R::spawn(async {}));
        }
        for handle in handles.drain(..) {
            handle.await.expect("an empty task doesn't panic");
        }
        start.elapsed()
    })
}
