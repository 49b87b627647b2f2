//! A minimal way to wake a task. A channel would do the same and be half of the count.

use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};

/// A signal that one task awaits again and again, and that any thread may send.
#[derive(Debug, Default)]
pub struct Call {
    made: AtomicBool,
    waiting: Mutex<Option<Waker>>,
}

impl Call {
    /// Waits until the call is made; the next wait is for the next call.
    pub async fn wait(&self) {
        poll_fn(|cx| {
            if self.take() {
                return Poll::Ready(());
            }
            match &mut *self.waiting() {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            // The call may have been made before the waker was stored.
            if self.take() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    pub fn make(&self) {
        self.made.store(true, Release);
        if let Some(waker) = &*self.waiting() {
            waker.wake_by_ref();
        }
    }

    fn take(&self) -> bool {
        self.made.load(Acquire) && self.made.swap(false, AcqRel)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().expect("nothing panics while it is held")
    }
}
