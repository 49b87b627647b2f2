//! A reference to the scheduler whose count is not shared by all threads.
//!
//! Every task, timer and handle keeps its scheduler alive. If they all shared one reference count,
//! every spawn and every timeout on every core would write to one cache line. So each machine has a
//! `SchedulerRef` of its own, with its own count, and what the machine spawns clones that. Only the
//! `SchedulerRef`s count as references to the scheduler itself. Rejected: a reference without a
//! count (tasks outlive runtimes in foreign wakers).

use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::sched::scheduler::Scheduler;
use crate::sync::{Arc, CountedArc};

#[derive(Clone, Debug)]
pub(crate) struct SchedulerRef(CountedArc<Inner>);

/// Aligned to a cache line of its own, because every spawn writes to the count.
#[derive(Debug)]
#[repr(align(128))]
struct Inner {
    scheduler: Arc<Scheduler>,
}

impl SchedulerRef {
    /// A reference with a new count.
    pub(crate) fn new(scheduler: Arc<Scheduler>) -> SchedulerRef {
        SchedulerRef(CountedArc::new(Inner { scheduler }))
    }

    #[inline]
    pub(crate) fn is_of(&self, scheduler: &Arc<Scheduler>) -> bool {
        Arc::ptr_eq(&self.0.scheduler, scheduler)
    }
}

impl Deref for SchedulerRef {
    type Target = Arc<Scheduler>;

    #[inline]
    fn deref(&self) -> &Arc<Scheduler> {
        &self.0.scheduler
    }
}

/// A panic in a task leaves the scheduler as it was: nothing of a task unwinds into it.
impl UnwindSafe for SchedulerRef {}
impl RefUnwindSafe for SchedulerRef {}
