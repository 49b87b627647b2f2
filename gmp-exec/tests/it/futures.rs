//! Helpers for futures: awaiting them with a deadline, polling them by hand, counting their
//! wake-ups.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Poll, Wake};
use std::time::Duration;

use gmp_exec::task::{JoinHandle, yield_now};
use gmp_exec::time::timeout;

/// A generous deadline: only a lost wake-up reaches it.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    timeout(Duration::from_secs(30), future).await.expect("it takes forever")
}

pub(crate) async fn join<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for task in tasks {
        outputs.push(task.await.unwrap());
    }
    outputs
}

pub(crate) async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

/// A waker that only counts its wake-ups.
#[derive(Default)]
pub(crate) struct CountWakes(AtomicUsize);

impl CountWakes {
    pub(crate) fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Yields until `condition` holds.
pub(crate) async fn yield_until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        yield_now().await;
    }
}
