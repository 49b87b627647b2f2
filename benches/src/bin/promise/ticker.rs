//! The task that wants to be punctual.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use gmp_benches::rt::Rt;
use hdrhistogram::Histogram;

const TICK: Duration = Duration::from_millis(1);

/// Sleeps 1 ms again and again until `stop`; returns how many microseconds after each due moment it was running.
pub(crate) async fn tick<R: Rt>(stop: Arc<AtomicBool>) -> Histogram<u64> {
    // From 1 µs to 10 min with 3 digits.
    let mut lateness = Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constant and good");
    while !stop.load(Relaxed) {
        let due = Instant::now() + TICK;
        R::sleep(TICK).await;
        lateness.saturating_record(Instant::now().saturating_duration_since(due).as_micros() as u64);
    }
    lateness
}
