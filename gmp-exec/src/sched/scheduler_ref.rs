//! A reference to the scheduler whose count is not shared by all threads.
//!
//! Every task, timer and handle keeps its scheduler alive. If they all shared one reference count,
//! every spawn and every timeout on every core would write to one cache line. So each machine has a
//! `SchedulerRef` of its own, with counts of its own: timers and handles clone the reference, tasks
//! its home. Only the `SchedulerRef`s and their homes count as references to the scheduler itself.
//! Rejected: a reference without a count (tasks outlive runtimes in foreign wakers).

use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::sched::scheduler::Scheduler;
use crate::sync::{Arc, CountedArc};
use crate::task::{Home, HomeRef};

#[derive(Clone, Debug)]
pub(crate) struct SchedulerRef(CountedArc<Inner>);

/// Aligned to cache lines of its own, because every timer writes to the count.
#[derive(Debug)]
#[repr(align(128))]
struct Inner {
    scheduler: Arc<Scheduler>,
    /// With a count of its own. A home is a single pointer, and must be told from that of a
    /// `LocalSet`; timers need not pay for that.
    home: HomeRef,
}

impl SchedulerRef {
    /// A reference with new counts: one for references to the scheduler, one for homes of tasks.
    pub(crate) fn new(scheduler: Arc<Scheduler>) -> SchedulerRef {
        let home = HomeRef::new(Home::Scheduler(scheduler.clone()));
        SchedulerRef(CountedArc::new(Inner { scheduler, home }))
    }

    /// The home of tasks that are spawned through this reference.
    #[inline]
    pub(crate) fn home(&self) -> &HomeRef {
        &self.0.home
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
