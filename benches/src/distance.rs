//! How far apart two CPUs are: how long a cache line takes to another CPU and back.
//!
//! A virtual CPU runs on any core that its host chooses, and another one at the next moment. So two
//! virtual CPUs share a last-level cache for some minutes and then, for seconds, share none. A
//! workload that passes tasks from core to core takes three times as long in such seconds, on each
//! runtime. The guest's kernel does not tell; this measurement does.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::Instant;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::measure::Samples;

/// The median of so many measurements: in one of them, the kernel may have used a CPU itself.
const MEASUREMENTS: usize = 9;
const TRIPS: u32 = 500;

/// The time in ns that a cache line takes from the first CPU of this process to the second one and
/// back. `None`: this process has a single CPU, or may not choose.
pub fn round_trip() -> Option<f64> {
    let allowed = sched_getaffinity(None).ok()?;
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let (first, second) = (cpus.next()?, cpus.next()?);
    let line = Line(AtomicU32::new(0));
    let trips = thread::scope(|scope| {
        let echo = scope.spawn(|| on(second, || line.echo()));
        let trips = scope.spawn(|| on(first, || line.measure()));
        echo.join().expect("an echo does not panic").and(trips.join().expect("nor does the measurement"))
    });
    trips.map(|trips| trips.median())
}

/// Runs `f`, and the rest of this thread, on a CPU. `None`: `f` ran, but on any CPU.
fn on<T>(cpu: usize, f: impl FnOnce() -> T) -> Option<T> {
    let mut only = CpuSet::new();
    only.set(cpu);
    let pinned = sched_setaffinity(None, &only).ok();
    let result = f();
    pinned.map(|()| result)
}

/// The line: an odd number on the way there, an even one on the way back.
#[repr(align(128))]
struct Line(AtomicU32);

impl Line {
    fn echo(&self) {
        for trip in 0..(MEASUREMENTS as u32 + 1) * TRIPS {
            self.pass(2 * trip + 1);
        }
    }

    /// The first measurement does not count: the other thread may not have begun.
    fn measure(&self) -> Samples {
        let measure = |number: u32| {
            let begun = Instant::now();
            for trip in number * TRIPS..(number + 1) * TRIPS {
                self.0.store(2 * trip + 1, Release);
                self.wait_for(2 * trip + 2);
            }
            begun.elapsed().as_nanos() as f64 / f64::from(TRIPS)
        };
        Samples::new((0..=MEASUREMENTS as u32).map(measure).skip(1).collect())
    }

    fn pass(&self, number: u32) {
        self.wait_for(number);
        self.0.store(number + 1, Release);
    }

    /// Without a pause between two looks, which would take as long as a transfer does.
    fn wait_for(&self, number: u32) {
        while self.0.load(Acquire) != number {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_takes_longer_than_a_load_and_less_than_20_us() {
        if let Some(nanos) = round_trip() {
            assert!((5.0..20_000.0).contains(&nanos), "{nanos} ns");
        }
    }
}
