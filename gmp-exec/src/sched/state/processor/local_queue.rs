//! The run queue of one processor: a ring of 256, pushed by its owner, popped by its owner and by
//! thieves.
//!
//! Only the owner moves `tail`. `head` is moved by CAS: by the owner for one task, by a thief for
//! half of the tasks. A thief copies first and commits second. If its CAS on `head` succeeds, no
//! copied slot can have been overwritten, because the owner reuses a slot only after it has seen
//! `head` past the slot. Slots are atomics, so a stale copy is merely thrown away. The algorithm is
//! Go's (`runqput`, `runqgrab`). Rejected: Chase-Lev, because it reads slots that are being
//! overwritten, and a lock, because a thief that is preempted inside it would stop the owner.
//!
//! Orderings: the owner publishes `tail` with Release and thieves read it with Acquire, so the slot
//! is visible. A CAS on `head` is AcqRel and the owner's load of `head` an Acquire, so the thief
//! has read its slots before the owner reuses them. Indices wrap at 2^32: a thief would have to
//! sleep through exactly 2^32 pops to mistake a new `head` for an old one.
#![allow(unsafe_code, reason = "keeps tasks as raw pointers")]

use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicPtr, AtomicU32};

/// Ring slots per processor, as in Go and tokio. Few under loom, so that models reach the
/// wrap-around.
#[cfg(not(loom))]
pub(crate) const CAPACITY: usize = 256;
#[cfg(loom)]
pub(crate) const CAPACITY: usize = 4;

/// How many tasks leave the ring when it overflows.
pub(crate) const HALF: usize = CAPACITY / 2;

/// Evidence that the calling thread holds the processor whose queue it is about to touch. Owner-only
/// operations of `LocalQueue` and `RunNext` ask for a reference to it. It is not `Send`, because it is
/// evidence about one thread.
pub(crate) struct OwnerProof {
    _not_send: PhantomData<*const ()>,
}

impl OwnerProof {
    /// # Safety
    ///
    /// While the proof exists, the caller is the only owner of the queues to which it passes the
    /// proof.
    #[inline]
    pub(crate) unsafe fn new() -> OwnerProof {
        OwnerProof { _not_send: PhantomData }
    }
}

/// A value that fits into a pointer. The holder of the pointer owns the value.
pub(crate) trait Token: Send + Sized {
    fn into_raw(self) -> NonNull<()>;

    /// # Safety
    ///
    /// `raw` was returned by `into_raw`, and each `into_raw` is followed by one `from_raw` at most.
    unsafe fn from_raw(raw: NonNull<()>) -> Self;
}

impl<M: Send + Sync> Token for async_task::Runnable<M> {
    fn into_raw(self) -> NonNull<()> {
        async_task::Runnable::into_raw(self)
    }

    unsafe fn from_raw(raw: NonNull<()>) -> Self {
        // SAFETY: the caller promises that `raw` was returned by `into_raw` and is used once.
        unsafe { async_task::Runnable::from_raw(raw) }
    }
}

pub(crate) struct LocalQueue<T> {
    head: AtomicU32,
    tail: AtomicU32,
    slots: Box<[AtomicPtr<()>; CAPACITY]>,
    _tokens: PhantomData<T>,
}

impl<T: Token> LocalQueue<T> {
    pub(crate) fn new() -> Self {
        Self::starting_at(0)
    }

    /// Only the models start at another index than 0, to reach the wrap-around.
    pub(in crate::sched) fn starting_at(index: u32) -> Self {
        LocalQueue {
            head: AtomicU32::new(index),
            tail: AtomicU32::new(index),
            slots: Box::new(std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()))),
            _tokens: PhantomData,
        }
    }

    /// Appends a task. Owner only.
    ///
    /// # Errors
    ///
    /// The ring is full. The task is given back.
    #[doc(alias = "runqput")]
    #[inline]
    pub(crate) fn push(&self, _: &OwnerProof, task: T) -> Result<(), T> {
        let tail = self.tail.load(Relaxed);
        if tail.wrapping_sub(self.head.load(Acquire)) as usize >= CAPACITY {
            return Err(task);
        }
        self.slot(tail).store(task.into_raw().as_ptr(), Relaxed);
        self.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }

    /// Removes the oldest task. Owner only.
    #[doc(alias = "runqget")]
    #[inline]
    pub(crate) fn pop(&self, _: &OwnerProof) -> Option<T> {
        let mut head = self.head.load(Acquire);
        loop {
            if head == self.tail.load(Relaxed) {
                return None;
            }
            let task = self.slot(head).load(Relaxed);
            match self.head.compare_exchange_weak(head, head.wrapping_add(1), AcqRel, Acquire) {
                Ok(_) => return Some(self.claimed(task)),
                Err(actual) => head = actual,
            }
        }
    }

    /// Removes the older half of a full ring. Owner only. `None`: thieves have made room.
    #[doc(alias = "runqputslow")]
    pub(crate) fn pop_half(&self, _: &OwnerProof) -> Option<[T; HALF]> {
        let head = self.head.load(Acquire);
        if self.tail.load(Relaxed).wrapping_sub(head) as usize != CAPACITY {
            return None;
        }
        let copied: [_; HALF] = std::array::from_fn(|i| self.slot(head.wrapping_add(i as u32)).load(Relaxed));
        self.head.compare_exchange(head, head.wrapping_add(HALF as u32), AcqRel, Relaxed).ok()?;
        Some(copied.map(|task| self.claimed(task)))
    }

    /// Moves half of this queue, rounded up, into the empty queue `thief`, and returns the newest
    /// of the moved tasks to be run. Any thread may steal. `proof` is the thief's, for its own
    /// queue.
    #[doc(alias = "runqsteal")]
    pub(crate) fn steal_into(&self, thief: &LocalQueue<T>, proof: &OwnerProof) -> Option<T> {
        debug_assert!(thief.is_empty(), "a thief must look into its own queue first");
        let start = thief.tail.load(Relaxed);
        let count = self.grab(|i, task| thief.slot(start.wrapping_add(i)).store(task, Relaxed))?;
        let last = start.wrapping_add(count - 1);
        let task = self.claimed(thief.slot(last).load(Relaxed));
        let _ = proof;
        thief.tail.store(last, Release);
        Some(task)
    }

    /// Copies half of the queue out, then commits. Returns the number of stolen tasks.
    #[doc(alias = "runqgrab")]
    fn grab(&self, copy: impl Fn(u32, *mut ())) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let size = self.tail.load(Acquire).wrapping_sub(head);
            let count = size - size / 2;
            if count == 0 {
                return None;
            }
            // `head` and `tail` were not read at the same time: read them again.
            if count as usize > HALF {
                crate::sync::hint::spin_loop();
                continue;
            }
            (0..count).for_each(|i| copy(i, self.slot(head.wrapping_add(i)).load(Relaxed)));
            if self.head.compare_exchange(head, head.wrapping_add(count), AcqRel, Relaxed).is_ok() {
                return Some(count);
            }
        }
    }

    /// How many tasks wait. Owner only: for the owner `head` never passes `tail`.
    #[inline]
    pub(crate) fn depth(&self, _: &OwnerProof) -> usize {
        self.tail.load(Relaxed).wrapping_sub(self.head.load(Acquire)) as usize
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tasks wait. On another thread than the owner's the number may be out of date.
    pub(crate) fn len(&self) -> usize {
        let head = self.head.load(Acquire);
        let tail = self.tail.load(Acquire);
        // `head` may have passed the `tail` that was read. Then the queue was empty in between.
        (tail.wrapping_sub(head) as i32).clamp(0, CAPACITY as i32) as usize
    }

    fn slot(&self, index: u32) -> &AtomicPtr<()> {
        &self.slots[index as usize % CAPACITY]
    }

    fn claimed(&self, raw: *mut ()) -> T {
        let raw = NonNull::new(raw).expect("a claimed slot holds a task");
        // SAFETY: only `into_raw` fills slots, and the successful CAS on `head` gave the content of
        // this slot to the caller alone.
        unsafe { T::from_raw(raw) }
    }
}

impl<T> Drop for LocalQueue<T> {
    fn drop(&mut self) {
        debug_assert_eq!(self.head.load(Relaxed), self.tail.load(Relaxed), "a queue is drained before it is dropped");
    }
}
