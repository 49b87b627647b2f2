//! Where a task runs, and so where a waker queues it.

use std::ops::Deref;

use crate::context;
use crate::sched::Scheduler;
use crate::sync::{Arc, CountedArc};
use crate::task::local_set::LocalHome;
use crate::task::registry::Registry;
use crate::task::watch::hooks::TaskHooks;

/// A counted reference to the place where a task runs. A single pointer: every task has one.
#[derive(Clone, Debug)]
pub(crate) struct HomeRef(CountedArc<Home>);

/// Aligned to cache lines of its own, because every spawn writes to the count.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) enum Home {
    /// Any machine of this scheduler.
    Scheduler(Arc<Scheduler>),
    /// The thread of this `LocalSet`, and no other.
    Local(Arc<LocalHome>),
}

impl HomeRef {
    /// A reference with a new count.
    pub(crate) fn new(home: Home) -> HomeRef {
        HomeRef(CountedArc::new(home))
    }
}

impl Deref for HomeRef {
    type Target = Home;

    #[inline]
    fn deref(&self) -> &Home {
        &self.0
    }
}

impl Home {
    pub(in crate::task) fn count_finished(&self) {
        match self {
            Home::Scheduler(scheduler) => context::count(scheduler, |counters| &counters.finished),
            Home::Local(home) => home.count_finished(),
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        match self {
            Home::Scheduler(scheduler) => &scheduler.registry,
            Home::Local(home) => home.registry(),
        }
    }

    pub(in crate::task) fn hooks(&self) -> Option<&Arc<TaskHooks>> {
        match self {
            Home::Scheduler(scheduler) => scheduler.config.task_hooks.as_ref(),
            Home::Local(home) => home.hooks(),
        }
    }
}
