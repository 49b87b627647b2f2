//! The tasks that wait for a source.
//!
//! There are two kinds. The `poll_*` methods have no future that could clean up, so each direction
//! has one slot, and the last task to poll gets it (tokio's contract). There may be any number of
//! futures such as `readable()`, and they clean up when they are dropped, so each gets an entry.
//!
//! This is plain data: the lock around it is the [source](super::source)'s. Nothing here wakes,
//! clones or drops a waker. Wakers that are removed are returned to the caller, which drops or
//! wakes them after unlocking.

use std::task::Waker;

use slab::Slab;

use super::registration::Direction;
use crate::io::{Interest, Ready};

/// The tasks that wait for one source.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// A slab keeps its memory, so a task that waits again and again allocates once.
    futures: Slab<Waiter>,
}

/// A future that waits. Without a waker, it has been woken and has not been polled since.
#[derive(Debug)]
struct Waiter {
    interest: Interest,
    waker: Option<Waker>,
}

impl Waiters {
    /// Stores `waker` in the direction's slot. Returns the waker that the caller has to drop: the
    /// old one, or the new one if both wake the same task.
    pub(super) fn set_slot(&mut self, direction: Direction, waker: Waker) -> Option<Waker> {
        replace(self.slot(direction), waker)
    }

    /// Adds the entry of a future, which has to remove it.
    pub(super) fn insert(&mut self, interest: Interest, waker: Waker) -> usize {
        self.futures.insert(Waiter { interest, waker: Some(waker) })
    }

    /// As `set_slot`, for a future that has an entry.
    pub(super) fn set(&mut self, key: usize, waker: Waker) -> Option<Waker> {
        replace(&mut self.futures[key].waker, waker)
    }

    /// Removes a future's entry.
    pub(super) fn remove(&mut self, key: usize) -> Option<Waker> {
        self.futures.remove(key).waker
    }

    /// Moves the wakers of all tasks that wait for one of the flags to `woken`.
    pub(super) fn take_ready(&mut self, ready: Ready, woken: &mut Vec<Waker>) {
        for direction in [Direction::Read, Direction::Write] {
            if !(direction.mask() & ready).is_empty() {
                woken.extend(self.slot(direction).take());
            }
        }
        // Iterating over a slab visits vacant entries too.
        if !self.futures.is_empty() {
            self.take_futures(ready, woken);
        }
    }

    fn take_futures(&mut self, ready: Ready, woken: &mut Vec<Waker>) {
        let concerned = |waiter: &Waiter| !(Ready::that_satisfy(waiter.interest) & ready).is_empty();
        for (_, waiter) in &mut self.futures {
            if concerned(waiter) {
                woken.extend(waiter.waker.take());
            }
        }
    }

    /// Empties both slots.
    pub(super) fn take_slots(&mut self) -> [Option<Waker>; 2] {
        [self.reader.take(), self.writer.take()]
    }

    fn slot(&mut self, direction: Direction) -> &mut Option<Waker> {
        match direction {
            Direction::Read => &mut self.reader,
            Direction::Write => &mut self.writer,
        }
    }
}

fn replace(slot: &mut Option<Waker>, waker: Waker) -> Option<Waker> {
    match slot {
        Some(old) if old.will_wake(&waker) => Some(waker),
        _ => slot.replace(waker),
    }
}
