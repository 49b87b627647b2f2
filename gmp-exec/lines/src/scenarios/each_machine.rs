//! All machines do the same, each for itself.

use std::future::Future;

use super::WARM_UP;
use crate::meeting::Tally;
use crate::stage::Stage;
use crate::{Subject, recorder};

/// The slots of a processor's queue, in gmp and in tokio.
const CAPACITY: usize = 256;

/// Operations of each machine: so many turns (or twice as many) have whole numbers of looks around.
const TURNS: usize = 61;

/// Each machine spawns a task and awaits it.
pub(super) fn spawn_await<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::spawn_await);
}

/// The same with a timer that is set and then cancelled.
pub(super) fn timeouts<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::spawn_await_in_time);
}

/// Each machine polls a task that yields.
pub(super) fn yields<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::yield_now);
}

/// Each machine spawns 16 tasks, and yields until they have run.
pub(super) fn spawn_many<S: Subject>(stage: &Stage<S>) {
    const BATCH: usize = 16;
    const BATCHES: usize = 4;
    measure_on_all(stage, BATCHES, BATCH, || async {
        let done = Tally::new();
        for _ in 0..BATCH {
            let done = done.clone();
            S::spawn_here(async move {
                done.add();
            });
        }
        while done.get() < BATCH {
            S::yield_now().await;
        }
    });
}

/// Each machine makes about that many operations.
fn on_all<S: Subject, F>(stage: &Stage<S>, each: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    measure_on_all(stage, each, 1, operation);
}

/// A task of each machine calls `operation`, which is so many operations, about `each` times. None
/// of the tasks waits for the others inside a poll: in tokio a worker may have two of them, and the
/// second one could not go on.
fn measure_on_all<S: Subject, F>(stage: &Stage<S>, each: usize, operations: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let calls = each * stage.processors;
    let (warm, counted) = (Tally::new(), Tally::new());
    stage.on_each(|_, _| {
        let (stage, warm, counted) = (stage.clone(), warm.clone(), counted.clone());
        async move {
            // Once around the ring, whose slots the first thread has made.
            for _ in 0..CAPACITY {
                S::yield_now().await;
            }
            for _ in 0..each.min(WARM_UP) {
                operation().await;
            }
            if warm.add() == stage.processors {
                recorder::begin();
            }
            while warm.get() < stage.processors {
                operation().await;
            }
            while counted.get() < calls {
                operation().await;
                if counted.add() == calls {
                    stage.end_count(calls * operations);
                }
            }
        }
    });
}
