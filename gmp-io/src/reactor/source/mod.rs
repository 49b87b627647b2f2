//! One registered descriptor: what it is ready for, and who waits for that.
//!
//! An event and a task that is about to wait race. Each side writes first and looks second:
//!
//! ```text
//! event: set readiness        │  task: leave a waker (under the lock)
//!        lock, take wakers    │        look at the readiness again
//! ```
//!
//! Whoever comes second to the lock sees what the other wrote before: either the event finds the waker, or the task finds
//! the readiness.

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
#[derive(Debug, Default)]
pub(crate) struct Source {
    readiness: Readiness,
    waiters: Mutex<Waiters>,
}

impl Source {
    /// An event has come. The wakers of those who wait for it go to `woken`, to be woken when no lock is held.
    pub(super) fn set_ready(&self, ready: Ready, woken: &mut Vec<Waker>) {
        self.readiness.set(ready);
        lock(&self.waiters).take_ready(ready, woken);
    }

    /// There won't be any more events: all who wait, and all who ask, are told.
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

    /// As `clear`, where not "closed" but `lasting` is what stays.
    pub(super) fn clear_except(&self, event: ReadyEvent, lasting: Ready) {
        self.readiness.clear_except(event, lasting);
    }

    /// What is known now.
    pub(super) fn look(&self, interest: Interest) -> ReadyEvent {
        self.readiness.look(Ready::that_satisfy(interest))
    }

    /// Waits in the direction's place: of several tasks that ask, the last one is woken.
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

    /// Waits in a place of its own.
    pub(super) fn wait(&self, interest: Interest) -> Wait<'_> {
        Wait { source: self, interest, key: None }
    }

    /// Forgets the tasks that wait in the directions' places.
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
    /// Its entry among the waiters, once it had to wait.
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
