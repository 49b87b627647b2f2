//! What every test of a program pays: a runtime is built and dropped, and `block_on` is called.

use std::future::ready;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::rt::{Flavor, Twin};

pub(super) const RUNTIMES: u32 = 50;
pub(super) const CALLS: u32 = 10_000;

/// Multi-thread runtimes with everything enabled.
pub(super) fn multi_thread<R: Twin>(rt: &R) -> Duration {
    one_after_the_other(|| R::new(rt.procs()).expect("a second runtime starts as the first did"))
}

/// Current-thread runtimes with timers.
pub(super) fn current_thread<R: Twin>(_: &R) -> Duration {
    one_after_the_other(|| R::start(Flavor::CurrentThread))
}

/// What each `#[tokio::test]` builds.
pub(super) fn for_test<R: Twin>(_: &R) -> Duration {
    one_after_the_other(R::start_for_test)
}

fn one_after_the_other<R>(build: impl Fn() -> R) -> Duration {
    let start = Instant::now();
    for _ in 0..RUNTIMES {
        drop(build());
    }
    start.elapsed()
}

/// `block_on` of a future that is ready, on a current-thread runtime.
pub(super) fn block_on_ready<R: Twin>(_: &R) -> Duration {
    let runtime = R::start(Flavor::CurrentThread);
    let start = Instant::now();
    for number in 0..CALLS {
        runtime.block_on(ready(black_box(number)));
    }
    start.elapsed()
}
