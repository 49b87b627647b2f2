//! One task awaits 5 000 blocking closures that return at once, one after the other.

use std::time::{Duration, Instant};

use crate::rt::{Blocking, in_task};

pub(super) const CLOSURES: u32 = 5_000;

pub(super) fn round<R: Blocking>(rt: &R) -> Duration {
    in_task(rt, async {
        let start = Instant::now();
        for _ in 0..CLOSURES {
            R::spawn_blocking(|| ()).await.expect("an empty closure doesn't panic");
        }
        start.elapsed()
    })
}
