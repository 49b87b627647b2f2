//! "Wait for the last one", as tokio's own benches do it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::AcqRel;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::rt::{Rt, in_task};

/// Lets one task spawn `tasks` others, and returns the time until the last of them has decremented
/// the countdown. `task` makes each from its number.
pub(super) fn crowd<R: Rt, F>(rt: &R, tasks: u32, task: impl Fn(u32, Countdown) -> F + Send + 'static) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    let countdown = Countdown::new(tasks);
    in_task(rt, async move {
        let start = Instant::now();
        for number in 0..tasks {
            drop(R::spawn(task(number, countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

/// The state that the tasks of a round share; each task has a clone.
///
/// The number and the `Notify` are two allocations, so that a clone touches two shared counts.
/// tokio's benches made this shape of the workload common, and a cheaper shape would favour the two
/// sides differently.
#[derive(Clone)]
pub(crate) struct Countdown {
    remaining: Arc<AtomicUsize>,
    last: Arc<Notify>,
}

impl Countdown {
    pub(crate) fn new(tasks: u32) -> Self {
        Countdown { remaining: Arc::new(AtomicUsize::new(tasks as usize)), last: Arc::new(Notify::new()) }
    }

    pub(crate) fn decrement(&self) {
        if self.remaining.fetch_sub(1, AcqRel) == 1 {
            self.last.notify_one();
        }
    }

    pub(crate) async fn finished(&self) {
        self.last.notified().await;
    }
}
