//! The task that wants to be punctual, and a thread that wants the same.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use gmp_benches::rt::Timers;
use hdrhistogram::Histogram;

const TICK: Duration = Duration::from_millis(1);

/// Sleeps 1 ms again and again until `stop`; returns by how many microseconds each due moment was missed.
///
/// The next moment is due 1 ms after the task has woken up, as it is for a task that calls `sleep` in a loop: a stall of
/// 50 ms is one late tick and not fifty.
pub(crate) async fn tick<R: Timers>(stop: Arc<AtomicBool>) -> Histogram<u64> {
    let mut lateness = histogram();
    while !stop.load(Relaxed) {
        let due = Instant::now() + TICK;
        R::sleep(TICK).await;
        record(&mut lateness, due);
    }
    lateness
}

/// The same by the calling thread, for `duration`: how late the machine itself is, with whatever else runs on it.
/// Calls `look` every hundredth time.
pub(crate) fn tick_on_thread(duration: Duration, mut look: impl FnMut()) -> Histogram<u64> {
    let mut lateness = histogram();
    let end = Instant::now() + duration;
    while Instant::now() < end {
        let due = Instant::now() + TICK;
        thread::sleep(TICK);
        record(&mut lateness, due);
        if lateness.len() % 100 == 0 {
            look();
        }
    }
    lateness
}

/// From 1 µs to 10 min with 3 digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constant and good")
}

fn record(lateness: &mut Histogram<u64>, due: Instant) {
    let late = Instant::now().saturating_duration_since(due);
    lateness.saturating_record(late.as_micros() as u64);
}
