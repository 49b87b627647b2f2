//! `yield_now`: lets other tasks run first.

use std::future::poll_fn;
use std::task::{Poll, ready};

use crate::context;
use crate::task::leaf;

/// Yields to the scheduler.
///
/// On the multi-thread flavour the task goes to the tail of its processor's queue. On the
/// current-thread flavour, as on tokio, the task is woken once the queue is empty or
/// `event_interval` tasks have run, and after the runtime has looked at the network and the timers.
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
        ready!(leaf(cx));
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context::defer(cx.waker());
        Poll::Pending
    })
    .await;
}
