//! The task that should be punctual, and a thread that should be, too.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use gmp_benches::measure::Durations;
use gmp_benches::rt::Rt;
use rustix::time::ClockId;
use serde::{Deserialize, Serialize};

use crate::load::clock;

pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Ends the tasks of a repetition.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// The start and the end of a period, on the clock that all processes share.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Span(pub(crate) Duration, pub(crate) Duration);

impl Span {
    pub(crate) fn length(&self) -> Duration {
        self.1.saturating_sub(self.0)
    }
}

/// Runs a ticker while `f` runs on the calling thread; then sets `stop`. Returns from when to when
/// each tick was late, beside the result of `f`.
pub(crate) fn beside<R: Rt, T>(rt: &R, stop: &Stop, f: impl FnOnce() -> T) -> (Vec<Span>, T) {
    let ticker = rt.spawn_remote(tick::<R>(stop.clone()));
    let result = f();
    stop.set();
    (rt.block_on(ticker).expect("the ticker doesn't panic"), result)
}

/// Sleeps 1 ms again and again until `stop`.
///
/// The next moment is due 1 ms after the task has woken up, as it is for a task that calls `sleep`
/// in a loop: a stall of 50 ms is one late tick and not fifty.
pub(crate) async fn tick<R: Rt>(stop: Stop) -> Vec<Span> {
    let mut late = Vec::new();
    while !stop.is_set() {
        let due = clock(ClockId::Monotonic) + TICK;
        R::sleep(TICK).await;
        late.push(Span(due, clock(ClockId::Monotonic)));
    }
    late
}

pub(crate) fn lateness(ticks: &[Span]) -> Durations {
    ticks.iter().map(Span::length).collect()
}

/// Ticks on the calling thread for `duration`: the lateness of the machine itself, with all other
/// programs on it. Calls `each` with the number of every tick.
pub(crate) fn tick_on_thread(duration: Duration, mut each: impl FnMut(u64)) -> Durations {
    let mut lateness = Durations::default();
    let end = Instant::now() + duration;
    while Instant::now() < end {
        let due = Instant::now() + TICK;
        thread::sleep(TICK);
        lateness.record(due.elapsed());
        each(lateness.count());
    }
    lateness
}
