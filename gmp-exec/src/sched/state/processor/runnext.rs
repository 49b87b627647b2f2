//! The task to run next: one slot before the ring, for the pair that takes turns.
//!
//! A task that wakes another and then waits should be followed by the one it woke, on the same thread, with warm caches.
//! The slot has one writer, the owner; a thief may empty it, in its last round only (see `steal`). That is why it is an
//! atomic and costs about 10 ns a hop; a slot nobody can rob strands its task behind a long poll (tokio #4941).
#![allow(unsafe_code, reason = "keeps a task as a raw pointer")]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::sched::state::processor::local_queue::Token;
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::*;

#[derive(Debug)]
pub(crate) struct RunNext<T> {
    slot: AtomicPtr<()>,
    _token: PhantomData<T>,
}

/// A sighting of the slot, to be confirmed by stealing. It is compared, never followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(*mut ());

impl<T: Token> RunNext<T> {
    pub(crate) fn new() -> Self {
        RunNext { slot: AtomicPtr::new(ptr::null_mut()), _token: PhantomData }
    }

    /// Puts a task into the slot and returns the one it displaces. Owner only.
    #[inline]
    pub(crate) fn replace(&self, _: &OwnerProof, task: T) -> Option<T> {
        Self::claimed(self.slot.swap(task.into_raw().as_ptr(), AcqRel))
    }

    /// Empties the slot. Owner only.
    #[inline]
    pub(crate) fn take(&self, _: &OwnerProof) -> Option<T> {
        if self.slot.load(Relaxed).is_null() {
            return None;
        }
        Self::claimed(self.slot.swap(ptr::null_mut(), Acquire))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slot.load(Acquire).is_null()
    }

    /// What is in the slot, for a thief that will come back. Any thread.
    pub(crate) fn see(&self) -> Option<Seen> {
        let seen = self.slot.load(Relaxed);
        (!seen.is_null()).then_some(Seen(seen))
    }

    /// Takes what was seen, if it is still, or again, there. Any thread.
    pub(crate) fn steal(&self, Seen(seen): Seen) -> Option<T> {
        let empty = ptr::null_mut();
        // Whoever swaps a pointer out owns what the slot holds at that moment: a task that ran and came back in between
        // is as good as the one that was seen.
        self.slot.compare_exchange(seen, empty, Acquire, Relaxed).ok().and_then(Self::claimed)
    }

    fn claimed(raw: *mut ()) -> Option<T> {
        // SAFETY: the slot is filled by `into_raw` only, and the swap gave its content to the caller alone.
        NonNull::new(raw).map(|raw| unsafe { T::from_raw(raw) })
    }
}

impl<T> Drop for RunNext<T> {
    fn drop(&mut self) {
        debug_assert!(self.slot.load(Relaxed).is_null(), "the slot is drained before it is dropped");
    }
}
