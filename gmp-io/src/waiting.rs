//! The wakers of those that wait for the same thing.
//!
//! Each of them (a listener, a handle of a standard stream) has a [`Place`] of its own, where it leaves
//! the waker of the task that polled it last, and which it gives back when it is dropped. So however many
//! tasks give up waiting, no waker stays behind.
//!
//! The lock around this is the caller's. Wakers that are removed are returned, for the caller to drop or
//! wake after unlocking.

use std::task::Waker;

use slab::Slab;

#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// `None`: the waker has been taken, and its owner has not waited since.
    wakers: Slab<Option<Waker>>,
}

/// The place of one that waits, once it had to.
#[derive(Debug, Default)]
pub(crate) struct Place(Option<usize>);

impl Waiting {
    pub(crate) const fn new() -> Self {
        Waiting { wakers: Slab::new() }
    }

    /// Leaves a waker, and returns the one that it replaces.
    #[must_use = "dropped after unlocking"]
    pub(crate) fn join(&mut self, place: &mut Place, waker: Waker) -> Option<Waker> {
        match place.0 {
            Some(key) => self.wakers[key].replace(waker),
            None => {
                place.0 = Some(self.wakers.insert(Some(waker)));
                None
            }
        }
    }

    /// Gives the place back.
    #[must_use = "dropped after unlocking"]
    pub(crate) fn leave(&mut self, place: &mut Place) -> Option<Waker> {
        place.0.take().and_then(|key| self.wakers.remove(key))
    }

    /// Moves all wakers to `woken`.
    pub(crate) fn take_all(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.wakers.iter_mut().filter_map(|(_, waker)| waker.take()));
    }

    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.wakers.len()
    }
}

impl Place {
    /// Whether its owner never had to wait.
    pub(crate) fn is_unused(&self) -> bool {
        self.0.is_none()
    }
}
