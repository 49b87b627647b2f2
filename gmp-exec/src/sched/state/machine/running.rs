//! Which task a machine polls: its id, and where it was spawned. Written by the machine before each
//! poll, and read by sysmon or another taker while the machine is stuck in that poll.
//!
//! | machine | reader |
//! |---|---|
//! | W1 `region = Sched` (the end of poll n) | R1 the machine is outside of `Sched`, in turn n? |
//! | W2 write id, location and kinds (Release) | R2 read them (Acquire) |
//! | W3 `polls` = n + 1 (Release); `region = Poll` (Release) | R3 the same question as in R1 |
//!
//! *Claim: if R1 and R3 say yes, all values are those of turn n.* R1 reads `polls` with Acquire,
//! so R2 finds the values of turn n or later ones. If R2 finds a later one, W1 has happened before,
//! and R3 finds `Sched`, or the `polls` of a later turn. *With a relaxed `polls`* R1 may see the
//! turn without the values that were written before it (found by the model). The reader never
//! follows a header: the poll may end, and free the task, at any moment.
//!
//! The rule is in `Machine::running_in`. Model: `loom_running_*`.
#![allow(unsafe_code, reason = "turns the pointer to a location back into a reference")]

use std::panic::Location;
use std::ptr;

use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};
use crate::task::{Header, Id};

/// A task that is being polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) task: Id,
    /// Where it was spawned.
    pub(crate) location: &'static Location<'static>,
    /// Whether it is a blocking closure.
    pub(crate) is_closure: bool,
    /// Whether it is the future given to `block_on`, and no task.
    pub(crate) is_root: bool,
}

#[derive(Debug, Default)]
pub(crate) struct RunningCell {
    task: AtomicU64,
    location: AtomicPtr<Location<'static>>,
    is_closure: AtomicBool,
    is_root: AtomicBool,
}

impl RunningCell {
    /// The machine, which is in `Sched`, is about to poll a task.
    #[inline]
    pub(crate) fn write(&self, task: Id, location: &'static Location<'static>) {
        self.task.store(task.as_u64(), Release);
        self.location.store(ptr::from_ref(location).cast_mut(), Release);
    }

    /// The tasks that follow are blocking closures, or are not. Written in `Sched`, as the task is.
    pub(in crate::sched) fn set_closure(&self, is_closure: bool) {
        self.is_closure.store(is_closure, Release);
    }

    /// The machine, which is in `Sched`, is about to poll the future given to `block_on`, which has
    /// an id and a location as a task has.
    pub(crate) fn write_root(&self, id: Id, location: &'static Location<'static>) {
        self.write(id, location);
        self.is_root.store(true, Release);
    }

    /// That poll is over, and the machine is in `Sched` again.
    pub(crate) fn end_root(&self) {
        self.is_root.store(false, Release);
    }

    /// The machine, which is in `Sched`, is about to poll a task of a `LocalSet` within a poll.
    pub(crate) fn set_local(&self, header: &Header) {
        self.end_root();
        self.write(header.id, header.location);
    }

    /// The poll around that poll goes on. This is its task or root future.
    pub(crate) fn set_again(&self, around: Option<Running>) {
        match around {
            Some(Running { task, location, is_root: true, .. }) => self.write_root(task, location),
            Some(Running { task, location, .. }) => self.write(task, location),
            None => self.set_none(),
        }
    }

    /// The machine, which is in `Sched`, is about to poll a future that is no task.
    pub(crate) fn set_none(&self) {
        self.task.store(0, Release);
    }

    /// The task that the machine polls, or has polled last. On another thread the values may belong to
    /// different polls: the caller finds out.
    pub(crate) fn read(&self) -> Option<Running> {
        let task = Id::from_u64(self.task.load(Acquire))?;
        // SAFETY: the pointer is null or was made from a `&'static Location` in `write`, and is never
        // written through.
        let location = unsafe { self.location.load(Acquire).as_ref() }?;
        let (is_closure, is_root) = (self.is_closure.load(Acquire), self.is_root.load(Acquire));
        Some(Running { task, location, is_closure, is_root })
    }
}
