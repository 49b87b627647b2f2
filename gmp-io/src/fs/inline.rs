//! What is in memory is answered at once, on the thread that asks.
//!
//! Tokio sends each operation to another thread, because any of them may wait for a disk. That costs tens of microseconds,
//! and most files that are asked for are in memory. So the question is put to the kernel first in such a way that it can't
//! block ([`sys::file`](crate::sys::file)), and only if it has no answer the operation goes to a closure.
//!
//! Here that means: a unit of the task's budget for each answer, so that a loop over cached files yields as one over sockets
//! does, and a unit for each part of a large copy, so that no poll copies for long.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use gmp_exec::runtime::Handle;
use gmp_exec::task::{AtShutdown, coop};

use super::background;
use crate::budget;
use crate::sys::{Cached, NotCached};

/// As much as is copied for a unit of the budget: some 5 µs' worth, as a small operation on a socket takes. With the 128
/// units of a task that is 8 MiB in a poll.
const BYTES_PER_UNIT: usize = 64 * 1024;

/// Asks `here` about `subject`, and if it does not know runs `elsewhere` in a closure.
///
/// # Panics
///
/// Without a current runtime, whether it is needed or not.
pub(super) async fn ask<S, T>(
    subject: &S,
    here: impl FnOnce(&S) -> Cached<T>,
    at_shutdown: AtShutdown,
    elsewhere: impl FnOnce(S::Owned) -> io::Result<T> + Send + 'static,
) -> io::Result<T>
where
    S: ?Sized + ToOwned<Owned: Send + 'static>,
    T: Send + 'static,
{
    match within_budget(|| here(subject)).await {
        Ok(answer) => answer,
        Err(NotCached(unidentified)) => {
            let subject = subject.to_owned();
            background::run(at_shutdown, move || {
                if let Some(unidentified) = unidentified {
                    unidentified.identify();
                }
                elsewhere(subject)
            })
            .await
        }
    }
}

async fn within_budget<T>(here: impl FnOnce() -> Cached<T>) -> Cached<T> {
    assert_runtime();
    let mut here = Some(here);
    poll_fn(|cx| {
        let unit = ready!(coop::poll_proceed(cx));
        let answer = here.take().expect("asked once")();
        if answer.is_ok() {
            unit.made_progress();
        }
        Poll::Ready(answer)
    })
    .await
}

/// So that a program without a runtime fails always and not only with a cold cache.
///
/// # Panics
///
/// Without a current runtime.
#[track_caller]
pub(super) fn assert_runtime() {
    drop(Handle::current());
}

/// Takes what copying `n` bytes costs beyond the first unit, or all that is left.
pub(super) fn charge(cx: &mut Context<'_>, n: usize) {
    budget::spend(cx, n / BYTES_PER_UNIT);
}
