//! Who waits for a source.
//!
//! Two kinds. The `poll_*` methods have no future of their own to clean up after them, so each direction has one place, and
//! the last one to ask gets it (tokio's contract). Futures such as `readable()` may be any number at a time and know when
//! they are dropped, so each gets an entry of its own.
//!
//! Plain data: the lock around it is the [source](super::source)'s. Nothing here wakes, clones or drops a waker; what
//! leaves the structure is handed to the caller, who does that after unlocking.

use std::task::Waker;

use slab::Slab;

use super::registration::Direction;
use crate::io::{Interest, Ready};

/// Those who wait for one source.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Keeps its memory, so that a task that waits again and again allocates once.
    futures: Slab<Waiter>,
}

/// One waiting future. Without a waker: it has been woken, and has not come back to look.
#[derive(Debug)]
struct Waiter {
    interest: Interest,
    waker: Option<Waker>,
}

impl Waiters {
    /// Puts `waker` into the direction's place and returns what has to be dropped: the old one, or the new one if the old
    /// one would do the same.
    pub(super) fn set_slot(&mut self, direction: Direction, waker: Waker) -> Option<Waker> {
        replace(self.slot(direction), waker)
    }

    /// Adds a future's entry, which it is to remove.
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

    /// Moves the wakers of all who wait for one of the flags to `woken`.
    pub(super) fn take_ready(&mut self, ready: Ready, woken: &mut Vec<Waker>) {
        for direction in [Direction::Read, Direction::Write] {
            if !(direction.mask() & ready).is_empty() {
                woken.extend(self.slot(direction).take());
            }
        }
        // Iterating looks at vacant entries too.
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

    /// Empties both places.
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

fn replace(place: &mut Option<Waker>, waker: Waker) -> Option<Waker> {
    match place {
        Some(old) if old.will_wake(&waker) => Some(waker),
        _ => place.replace(waker),
    }
}
