//! Questions that are answered from memory, on the thread that asks.
//!
//! tokio sends each operation to another thread, because any of them may wait for a disk. That
//! costs tens of microseconds, and most files that programs ask for are cached. So the kernel is
//! first asked in a way that can't block ([`sys::file`](crate::sys::file)), and only if it has no
//! answer, the operation goes to the background.
//!
//! Each answer costs a unit of the task's budget, so that a loop over cached files yields like one
//! over sockets. A large copy costs a unit for each part, so that no poll copies for long.
//!
//! The kernel is asked by calls that the standard library does not make. Once a filter of system calls
//! has come, all goes to the background. The look for a filter takes about 0.2 µs of the 4 µs of a
//! small file, and of the 0.9 µs of a page of an open one.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::runtime::Handle;
use gmp_exec::task::{AtShutdown, coop};

use super::background;
use crate::budget;
use crate::sys::{Cached, NotCached};

/// The bytes copied for a unit of the budget: about 5 µs' worth, as much as a small socket
/// operation. A task's 128 units are 8 MiB per poll.
const BYTES_PER_UNIT: usize = 64 * 1024;

/// Asks `here` about `subject`, and if the answer isn't cached, runs `elsewhere` in the background.
///
/// # Panics
///
/// If called outside of a runtime, even if none is needed.
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
        let here = here.take().expect("asked once");
        let answer = if filter_has_come() { Err(NotCached(None)) } else { here() };
        if answer.is_ok() {
            unit.made_progress();
        }
        Poll::Ready(answer)
    })
    .await
}

/// Makes a program without a runtime fail always, and not only when nothing is cached.
///
/// # Panics
///
/// If called outside of a runtime.
#[track_caller]
pub(super) fn assert_runtime() {
    drop(Handle::current());
}

/// Spends the budget for copying `n` bytes beyond the first unit, or all that is left.
pub(super) fn charge(cx: &mut Context<'_>, n: usize) {
    budget::spend(cx, n / BYTES_PER_UNIT);
}
