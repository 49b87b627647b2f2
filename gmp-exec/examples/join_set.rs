//! A `JoinSet`: tasks that belong together, joined in the order in which they end.
//!
//! A task that panics ends alone, and its error says so. Dropping the set aborts the tasks that are
//! left in it, so that no task outlives the function that has spawned it.
//!
//!     cargo run -p gmp-exec --example join_set

use std::time::Duration;

use gmp_exec::task::{JoinError, JoinSet};
use gmp_exec::time::sleep;

#[gmp_exec::main]
async fn main() {
    println!("the first two: {:?}", first(2, mirrors()).await);
    for ending in all(mirrors()).await {
        println!("{ending}");
    }
}

/// Five mirrors to download from. The third one is broken.
fn mirrors() -> JoinSet<u64> {
    let mut mirrors = JoinSet::new();
    for mirror in 1..=5 {
        mirrors.spawn(async move {
            sleep(Duration::from_millis(60 - 10 * mirror)).await;
            assert_ne!(mirror, 3, "this mirror is broken");
            mirror
        });
    }
    mirrors
}

/// The first `count` that succeed. The other tasks are aborted.
async fn first(count: usize, mut mirrors: JoinSet<u64>) -> Vec<u64> {
    let mut answers = Vec::new();
    while answers.len() < count {
        let Some(ending) = mirrors.join_next().await else { break };
        answers.extend(ending.ok());
    }
    answers
}

/// How each task has ended.
async fn all(mut mirrors: JoinSet<u64>) -> Vec<String> {
    let mut endings = Vec::new();
    while let Some(ending) = mirrors.join_next().await {
        let panicked = |error: JoinError| if error.is_panic() { "panicked" } else { "was aborted" }.to_owned();
        endings.push(ending.map_or_else(panicked, |mirror| format!("mirror {mirror} answered")));
    }
    endings
}

#[gmp_exec::test(start_paused = true)]
async fn tasks_are_joined_as_they_end_and_a_panic_ends_one_only() {
    assert_eq!(first(3, mirrors()).await, [5, 4, 2]);
    assert_eq!(all(mirrors()).await[2..], ["panicked", "mirror 2 answered", "mirror 1 answered"]);
}
