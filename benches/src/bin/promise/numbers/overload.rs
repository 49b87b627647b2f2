//! Many more tasks compute than there are cores: 120 tasks, 8 polls each. Do other tasks still run,
//! and is the number that compute at once bounded? In a variant, each poll sleeps before it
//! computes, so that it looks blocked at first.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::measure::Durations;
use gmp_benches::rt::{Gmp, Rt, Tokio, Twin, join_all};

use super::{Figure, Numbers, Process, on};
use crate::Options;
use crate::load::compute_for;
use crate::processes;
use crate::ticker::{self, Span, Stop};

const TASKS: usize = 120;
const POLLS: usize = 8;
const COMPUTE: Duration = Duration::from_millis(20);
/// Long enough for a poll to lose its worker because it sleeps.
const SLEEP: Duration = Duration::from_millis(2);

pub(super) const ROW: Numbers = Numbers::new(
    "overload: 120 x 8 polls compute 20 ms",
    &[
        Figure::wanted("ticker p99", "ms", 5.0, 3.0),
        Figure::shown("ticker max", "ms"),
        Figure::wanted("computing at once", "tasks", 12.0, 8.0),
    ],
    |options| measure::<Gmp>(None, Duration::ZERO, options),
    Some(|options| measure::<Tokio>(None, Duration::ZERO, options)),
);

/// All first polls sleep at once, and nothing can stop them when they wake up: not counted.
pub(super) const AFTER_A_SLEEP: Numbers = Numbers::new(
    "overload: 120 x 8 polls sleep, compute",
    &[
        Figure::shown("ticker p99", "ms"),
        Figure::shown("ticker max", "ms"),
        Figure::shown("computing at once", "tasks"),
    ],
    |options| measure::<Gmp>(None, SLEEP, options),
    Some(|options| measure::<Tokio>(None, SLEEP, options)),
);

/// The ticker's lateness counts only the time during which the process runs.
pub(super) const UNDER_A_QUOTA: Numbers = Numbers {
    name: "overload under a quota: the same",
    process: Process::Stopped,
    gmp: |options| measure::<Gmp>(Some(processes::listen()), Duration::ZERO, options),
    tokio: Some(|options| measure::<Tokio>(Some(processes::listen()), Duration::ZERO, options)),
    ..ROW
};

/// `stops`: when this process was stopped; `sleep`: how long each poll sleeps before it computes.
fn measure<R: Twin>(stops: Option<Receiver<Span>>, sleep: Duration, options: &Options) -> Result<Vec<f64>> {
    let at_once = Arc::new(AtOnce::default());
    let (late, ()) = on::<R, _>(options.procs, |rt| {
        ticker::beside(rt, &Stop::default(), || {
            let task = |_| rt.spawn_remote(compute::<R>(sleep, at_once.clone()));
            rt.block_on(join_all::<R>((0..TASKS).map(task).collect()));
        })
    })?;
    let stops: Vec<_> = stops.iter().flat_map(Receiver::try_iter).collect();
    let ticks: Durations = late.into_iter().map(|late| processes::without(&stops, late)).collect();
    Ok(vec![ticks.millis_at(99.0), ticks.millis_at(100.0), at_once.most.load(Relaxed) as f64])
}

async fn compute<R: Rt>(sleep: Duration, at_once: Arc<AtOnce>) {
    let uncounted = AtOnce::default();
    for poll in 0..POLLS {
        thread::sleep(sleep);
        let counted = if poll == 0 && !sleep.is_zero() { &uncounted } else { &*at_once };
        counted.during(|| compute_for(COMPUTE));
        R::yield_now().await;
    }
}

/// Counts how many tasks compute now, and the highest such number.
#[derive(Default)]
struct AtOnce {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl AtOnce {
    fn during(&self, f: impl FnOnce()) {
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
        f();
        self.now.fetch_sub(1, Relaxed);
    }
}
