//! `yield_now`: lets everybody else run first.

use std::future::poll_fn;
use std::task::Poll;

/// Yields to the scheduler: the task goes to the tail of its processor's queue.
///
/// # Cancel safety
///
/// Cancel safe: nothing is lost but the yield.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new().unwrap().block_on(async {
/// gmp_exec::task::yield_now().await;
/// # });
/// ```
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        // Woken while running: the scheduler takes this for a yield.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
