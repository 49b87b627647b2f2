//! A reference to the scheduler whose count is not shared by all threads.
//!
//! Every task, timer and handle keeps its scheduler alive. One reference count for all of them is one cache line that
//! every spawn and every timeout on every core writes. So each machine makes an anchor of its own, with a count of its
//! own, and what it spawns holds on to that; only the anchors hold on to the scheduler. Rejected: a reference without a
//! count (tasks outlive runtimes in foreign wakers).

use std::ops::Deref;

use crate::sched::scheduler::Scheduler;
use crate::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct SchedulerRef(Arc<Inner>);

/// Has its cache line to itself, because it is written at every spawn.
#[derive(Debug)]
#[repr(align(128))]
struct Inner {
    scheduler: Arc<Scheduler>,
}

impl SchedulerRef {
    /// A new count.
    pub(crate) fn new(scheduler: Arc<Scheduler>) -> SchedulerRef {
        SchedulerRef(Arc::new(Inner { scheduler }))
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
