//! The task to run next: one slot before the ring, for two tasks that wake each other.
//!
//! A task that wakes another one and then waits should be followed by the task it woke, on the same
//! thread, with warm caches. The slot has one writer, the owner. A thief may empty the slot, but
//! only in its last round (see `steal`). Therefore the slot is an atomic, which costs about 10 ns a
//! hop. A slot that thieves can't empty strands its task behind a long poll (tokio #4941).
#![allow(unsafe_code, reason = "keeps a task as a raw pointer")]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::processor::local_queue::Token;
use crate::sync::atomic::AtomicPtr;
use crate::sync::atomic::Ordering::*;

pub(crate) struct RunNext<T> {
    slot: AtomicPtr<()>,
    _token: PhantomData<T>,
}

/// The pointer that a thief saw in the slot. `steal` compares it with the slot and never follows
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(*mut ());

impl<T: Token> RunNext<T> {
    pub(crate) fn new() -> Self {
        RunNext { slot: AtomicPtr::new(ptr::null_mut()), _token: PhantomData }
    }

    /// Puts a task into the slot and returns the one it displaces. Owner only.
    #[inline]
    pub(crate) fn replace(&self, _: &OwnerProof, task: T) -> Option<T> {
        // Only the owner fills the slot, so an empty slot stays empty, and a plain store is enough.
        // The swap would cost 5 ns more.
        if self.slot.load(Relaxed).is_null() {
            self.slot.store(task.into_raw().as_ptr(), Release);
            return None;
        }
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

    /// The content of the slot, for a thief that will come back. Any thread.
    pub(crate) fn see(&self) -> Option<Seen> {
        let seen = self.slot.load(Relaxed);
        (!seen.is_null()).then_some(Seen(seen))
    }

    /// Takes the task that was seen, if the slot still holds it, or holds it again. Any thread.
    pub(crate) fn steal(&self, Seen(seen): Seen) -> Option<T> {
        let empty = ptr::null_mut();
        // The thread that swaps a pointer out owns the task that the slot holds at that moment. If
        // the task that was seen ran and came back in between, the thief may take it all the same.
        self.slot.compare_exchange(seen, empty, Acquire, Relaxed).ok().and_then(Self::claimed)
    }

    fn claimed(raw: *mut ()) -> Option<T> {
        // SAFETY: only `into_raw` fills the slot, and the swap gave its content to the caller
        // alone.
        NonNull::new(raw).map(|raw| unsafe { T::from_raw(raw) })
    }
}

impl<T> Drop for RunNext<T> {
    fn drop(&mut self) {
        debug_assert!(self.slot.load(Relaxed).is_null(), "the slot is drained before it is dropped");
    }
}
