//! `JoinSet`: tasks are joined once each, as they finish, and end with the set.

mod ending;
mod joining;
mod many_tasks;
mod spawning;
mod wakers;

use gmp_exec::task::yield_now;
use gmp_exec::time::timeout;
use std::future::Future;
use std::time::Duration;

/// A generous deadline: only a lost wake-up reaches it.
async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("it takes forever")
}

async fn wait_until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            yield_now().await;
        }
    })
    .await;
}
