//! The tasks that hold their thread.

use std::{
    fmt,
    hint::spin_loop,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use gmp_benches::rt::Rt;

/// How long a hog holds its thread in one poll.
const HOLD: Duration = Duration::from_millis(50);

/// A row: so many hogs of one kind, and how late the ticker's p99 may be beside them, in ms.
pub(crate) struct Hogs {
    pub(crate) count: usize,
    pub(crate) way: Way,
    pub(crate) limit: f64,
    pub(crate) aim: f64,
}

/// The rows.
pub(crate) const ROWS: [Hogs; 4] = [
    Hogs { count: 2, way: Way::Block, limit: 2.0, aim: 0.5 },
    Hogs { count: 8, way: Way::Block, limit: 2.0, aim: 0.5 },
    Hogs { count: 2, way: Way::Compute, limit: 10.0, aim: 3.0 },
    Hogs { count: 8, way: Way::Compute, limit: 15.0, aim: 5.0 },
];

/// What a hog does with its thread.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Sleeps: the thread is gone, the core is free.
    Block,
    /// Computes: the core is gone too.
    Compute,
}

impl fmt::Display for Hogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match self.way {
            Way::Block => "thread::sleep",
            Way::Compute => "computing",
        };
        write!(f, "{} {way} {} ms", self.count, HOLD.as_millis())
    }
}

/// Holds the thread for 50 ms, yields, and so on until `stop`.
pub(crate) async fn hold<R: Rt>(way: Way, stop: Arc<AtomicBool>) {
    while !stop.load(Relaxed) {
        match way {
            Way::Block => thread::sleep(HOLD),
            Way::Compute => compute(),
        }
        R::yield_now().await;
    }
}

/// For 50 ms by the clock on the wall: with more hogs than cores each gets its share of a core only.
fn compute() {
    let start = Instant::now();
    while start.elapsed() < HOLD {
        spin_loop();
    }
}
