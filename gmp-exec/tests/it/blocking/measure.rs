//! Measurements for the tests of long polls. Each is repeated, because a single one says little on
//! a system with other load.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Runtime;
use gmp_exec::time::sleep;
use rustix::time::{ClockId, clock_gettime};

use crate::support::{Flag, busy_wait_until, wait_until};

/// Checks that most of the attempts stay below the limit, and stops as soon as the result is
/// certain.
pub(super) fn mostly_below<T: PartialOrd + Debug>(limit: T, attempts: usize, mut measure: impl FnMut() -> T) {
    let majority = attempts / 2 + 1;
    let (mut below, mut others) = (Vec::new(), Vec::new());
    while below.len() < majority {
        let measured = measure();
        if measured < limit {
            below.push(measured)
        } else {
            others.push(measured)
        }
        assert!(others.len() < majority, "{others:?} are not below {limit:?}; {below:?} are");
    }
}

/// How long the calling thread, which is not one of the runtime's, waits for a task that it spawns.
pub(super) fn outside_spawn(runtime: &Runtime) -> Duration {
    let start = Instant::now();
    let task = runtime.spawn(async move { start.elapsed() });
    runtime.block_on(task).unwrap()
}

/// The longest time between two ticks of a task that ticks every millisecond while `f` runs.
pub(super) fn longest_gap(runtime: &Runtime, f: impl FnOnce()) -> Duration {
    let (ticks, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
    let ticker = runtime.spawn(tick(ticks.clone(), end.clone()));
    wait_until(|| ticks.load(SeqCst) > 3);
    f();
    end.set();
    runtime.block_on(ticker).unwrap()
}

async fn tick(ticks: Arc<AtomicUsize>, end: Flag) -> Duration {
    let (mut longest, mut last) = (Duration::ZERO, Instant::now());
    while !end.is_set() {
        sleep(Duration::from_millis(1)).await;
        let now = Instant::now();
        // Delays before the measurement begins do not count.
        if ticks.fetch_add(1, SeqCst) > 3 {
            longest = longest.max(now - last);
        }
        last = now;
    }
    longest
}

/// Counts how many threads are inside a piece of code at the same time.
#[derive(Clone, Default)]
pub(super) struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    pub(super) fn during(&self, f: impl FnOnce()) {
        let (now, most) = &*self.0;
        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
        f();
        now.fetch_sub(1, SeqCst);
    }

    pub(super) fn most(&self) -> usize {
        self.0.1.load(SeqCst)
    }
}

/// Computes for so long by the thread's CPU clock: the same amount of work however many threads
/// share the cores.
pub(super) fn use_cpu(amount: Duration) {
    let start = cpu_time();
    busy_wait_until(|| cpu_time() - start >= amount);
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
