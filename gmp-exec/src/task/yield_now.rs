//! `yield_now`: lets everybody else run first.

use std::future::poll_fn;
use std::task::Poll;

use crate::context;

/// Yields to the scheduler.
///
/// On the multi-thread flavour the task goes to the tail of its processor's queue. On the current-thread flavour it is woken
/// after the queue is empty, or `event_interval` tasks have run, and the network and timers were looked at, as on tokio.
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
        context::defer(cx.waker());
        Poll::Pending
    })
    .await;
}
