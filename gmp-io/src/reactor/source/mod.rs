//! The state of a registered descriptor: what it is ready for, and which tasks wait.
//!
//! An event and a task that is about to wait race. Each side writes first and reads second:
//!
//! ```text
//! event: set readiness        │  task: store a waker (under the lock)
//!        lock, take wakers    │        read the readiness again
//! ```
//!
//! The side that takes the lock second sees what the other side wrote before: either the event
//! finds the waker, or the task finds the readiness.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use super::readiness::{Readiness, ReadyEvent};
use super::registration::Direction;
use super::waiters::Waiters;
use crate::io::{Interest, Ready};
use crate::lock::lock;

/// The state that a registration shares with the reactor.
#[doc(alias("ScheduledIo", "pollDesc"))]
#[derive(Debug, Default)]
pub(crate) struct Source {
    readiness: Readiness,
    waiters: Mutex<Waiters>,
}

impl Source {
    /// Records an event. The wakers of the tasks that wait for it are moved to `woken`, for the
    /// caller to wake when no lock is held.
    pub(super) fn set_ready(&self, ready: Ready, woken: &mut Vec<Waker>) {
        self.readiness.set(ready);
        lock(&self.waiters).take_ready(ready, woken);
    }

    /// Records that no more events will come, and moves all wakers to `woken`.
    pub(super) fn shut_down(&self, woken: &mut Vec<Waker>) {
        self.readiness.shut_down();
        lock(&self.waiters).take_ready(Ready::ALL, woken);
    }

    pub(super) fn assume_ready(&self, ready: Ready) {
        self.readiness.assume(ready);
    }

    pub(super) fn clear(&self, event: ReadyEvent) {
        self.readiness.clear(event);
    }

    /// As `clear`, but leaves the flags in `lasting` instead of "closed".
    pub(super) fn clear_except(&self, event: ReadyEvent, lasting: Ready) {
        self.readiness.clear_except(event, lasting);
    }

    /// The readiness for `interest`.
    pub(super) fn look(&self, interest: Interest) -> ReadyEvent {
        self.readiness.look(Ready::that_satisfy(interest))
    }

    /// Waits in the direction's slot: of several tasks that poll, the last one is woken.
    pub(super) fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<ReadyEvent> {
        let event = self.readiness.look(direction.mask());
        if event.ends_wait() {
            return Poll::Ready(event);
        }
        let waker = cx.waker().clone();
        let unneeded = lock(&self.waiters).set_slot(direction, waker);
        drop(unneeded);
        self.look_again(direction.mask())
    }

    /// Waits with an entry of its own: any number of tasks may wait.
    pub(super) fn wait(&self, interest: Interest) -> Wait<'_> {
        Wait { source: self, interest, key: None }
    }

    /// Drops the wakers in both slots.
    pub(super) fn clear_slots(&self) {
        let unneeded = lock(&self.waiters).take_slots();
        drop(unneeded);
    }

    fn look_again(&self, mask: Ready) -> Poll<ReadyEvent> {
        let event = self.readiness.look(mask);
        if event.ends_wait() { Poll::Ready(event) } else { Poll::Pending }
    }
}

/// The future behind `ready(interest)`.
#[derive(Debug)]
pub(super) struct Wait<'a> {
    source: &'a Source,
    interest: Interest,
    /// The key of its entry among the waiters, once it had to wait.
    key: Option<usize>,
}

impl Future for Wait<'_> {
    type Output = ReadyEvent;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ReadyEvent> {
        let mask = Ready::that_satisfy(self.interest);
        if let Poll::Ready(event) = self.source.look_again(mask) {
            return Poll::Ready(event);
        }
        self.leave_waker(cx.waker().clone());
        self.source.look_again(mask)
    }
}

impl Wait<'_> {
    fn leave_waker(&mut self, waker: Waker) {
        let mut waiters = lock(&self.source.waiters);
        let unneeded = match self.key {
            Some(key) => waiters.set(key, waker),
            None => {
                self.key = Some(waiters.insert(self.interest, waker));
                None
            }
        };
        drop(waiters);
        drop(unneeded);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let unneeded = lock(&self.source.waiters).remove(key);
            drop(unneeded);
        }
    }
}

#[cfg(test)]
mod tests;
