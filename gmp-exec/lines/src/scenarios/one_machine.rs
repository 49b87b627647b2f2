//! One machine spawns; the others are idle, or steal.

use crate::meeting::Tally;
use crate::stage::Stage;
use crate::{Subject, recorder};

/// All other processors are idle while a machine spawns tasks and awaits them.
pub(super) fn idle<S: Subject>(stage: &Stage<S>) {
    const OPERATIONS: usize = 500;
    // All machines have run, and go idle.
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.runtime.spawn(async move {
        for i in 0..2 * OPERATIONS {
            if i == OPERATIONS {
                recorder::begin();
            }
            S::spawn_await().await;
        }
        counting.end_count(OPERATIONS);
        end.add();
    });
    ended.wait_for(1);
}

/// A machine spawns tasks and stays in its poll until others have stolen them.
pub(super) fn steal<S: Subject>(stage: &Stage<S>) {
    const BATCH: usize = 65;
    const BATCHES: usize = 6;
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.runtime.spawn(async move {
        for batch in 0..2 + BATCHES {
            if batch == 2 {
                recorder::begin();
            }
            let done = Tally::new();
            for _ in 0..BATCH {
                let done = done.clone();
                S::spawn_here(async move {
                    done.add();
                });
            }
            // The last one is in `runnext`.
            done.wait_for(BATCH - 1);
            while done.get() < BATCH {
                S::yield_now().await;
            }
        }
        counting.end_count(BATCH * BATCHES);
        end.add();
    });
    ended.wait_for(1);
}
