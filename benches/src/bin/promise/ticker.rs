//! The task that should be punctual, and a thread that should be, too.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use gmp_benches::rt::Rt;
use hdrhistogram::Histogram;

/// The length of each sleep.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Runs a ticker while `f` runs on the calling thread; then sets `stop`. Returns the ticker's
/// lateness beside the result of `f`.
pub(crate) fn beside<R: Rt, T>(rt: &R, stop: &Arc<AtomicBool>, f: impl FnOnce() -> T) -> (Histogram<u64>, T) {
    let ticker = rt.spawn_remote(tick::<R>(stop.clone()));
    let result = f();
    stop.store(true, Relaxed);
    (rt.block_on(ticker).expect("the ticker doesn't panic"), result)
}

/// Sleeps 1 ms again and again until `stop`; returns a histogram of how late each tick was, in
/// microseconds.
pub(crate) async fn tick<R: Rt>(stop: Arc<AtomicBool>) -> Histogram<u64> {
    let mut lateness = histogram();
    each::<R>(&stop, |late| record(&mut lateness, late)).await;
    lateness
}

/// Sleeps 1 ms again and again until `stop` and calls `late` each time with the tick's lateness.
///
/// The next moment is due 1 ms after the task has woken up, as it is for a task that calls `sleep`
/// in a loop: a stall of 50 ms is one late tick and not fifty.
pub(crate) async fn each<R: Rt>(stop: &AtomicBool, mut late: impl FnMut(Duration) + Send) {
    while !stop.load(Relaxed) {
        let due = Instant::now() + TICK;
        R::sleep(TICK).await;
        late(due.elapsed());
    }
}

/// Ticks on the calling thread for `duration`: the lateness of the machine itself, with all other
/// programs on it. Calls `each` with the number of every tick.
pub(crate) fn tick_on_thread(duration: Duration, mut each: impl FnMut(u64)) -> Histogram<u64> {
    let mut lateness = histogram();
    let end = Instant::now() + duration;
    while Instant::now() < end {
        let due = Instant::now() + TICK;
        thread::sleep(TICK);
        record(&mut lateness, due.elapsed());
        each(lateness.len());
    }
    lateness
}

/// For durations from 1 µs to 10 min with 3 digits.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constant and good")
}

pub(crate) fn histogram_of(durations: impl IntoIterator<Item = Duration>) -> Histogram<u64> {
    let mut histogram = histogram();
    durations.into_iter().for_each(|duration| record(&mut histogram, duration));
    histogram
}

fn record(histogram: &mut Histogram<u64>, duration: Duration) {
    histogram.saturating_record(duration.as_micros() as u64);
}

/// The percentile in ms: `percent` of the durations are at or below it.
pub(crate) fn millis(histogram: &Histogram<u64>, percent: f64) -> f64 {
    histogram.value_at_percentile(percent) as f64 / 1000.0
}
