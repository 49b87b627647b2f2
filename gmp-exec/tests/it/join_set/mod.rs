//! `JoinSet`: tasks are joined once each, as they finish, and end with the set.

mod ending;
mod joining;
mod many_tasks;
mod spawning;
mod wakers;

use gmp_exec::task::yield_now;

use crate::futures::soon;

async fn wait_until(condition: impl Fn() -> bool) {
    soon(async {
        while !condition() {
            yield_now().await;
        }
    })
    .await;
}
