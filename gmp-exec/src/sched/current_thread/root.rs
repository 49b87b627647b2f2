//! The future given to `block_on` of a current-thread runtime, as its wakers see it.

use std::cell::Cell;
use std::task::{Wake, Waker};

use crate::observe;
use crate::sched::scheduler::Scheduler;
use crate::sched::submit::wake::{interrupt_sleeper, notify_waiting};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU64, fence};
use crate::task::{Id, Observed, Observer};

/// Whether a root future was woken, and its waker.
pub(in crate::sched) struct Root {
    /// The future was not polled yet.
    is_new: Cell<bool>,
    target: Arc<Target>,
    waker: Waker,
}

/// What a waker of the future wakes.
struct Target {
    woken: AtomicBool,
    /// The id by which observers know the future.
    id: AtomicU64,
    scheduler: Arc<Scheduler>,
}

impl Wake for Target {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        observe::on_root_wake(&self.scheduler, || self.id.load(Relaxed), || self.woken.load(Relaxed));
        self.woken.store(true, Release);
        fence(SeqCst);
        interrupt_sleeper(&self.scheduler);
        notify_waiting(&self.scheduler);
    }
}

impl Root {
    /// The future of that id, which is to be polled for the first time.
    pub(in crate::sched) fn new(scheduler: &Arc<Scheduler>, id: Id) -> Root {
        let (woken, id, scheduler) = (AtomicBool::new(false), AtomicU64::new(id.as_u64()), scheduler.clone());
        let target = Arc::new(Target { woken, id, scheduler });
        let waker = Waker::from(target.clone());
        let waker = match target.scheduler.config.observed {
            Observed::No => waker,
            // Observed as those of the tasks are.
            Observed::Yes => Observer::observe(waker),
        };
        Root { is_new: Cell::new(true), target, waker }
    }

    /// The same for another future. `false`: wakers of the last one are left, which would wake this
    /// one.
    #[must_use]
    pub(in crate::sched) fn renew(&mut self, id: Id) -> bool {
        // An observer's wakers hold the observer, which holds the target.
        if self.observer().is_some() || Arc::strong_count(&self.target) > 2 {
            return false;
        }
        // After all that the last holder of such a waker did with it.
        fence(Acquire);
        self.target.woken.store(false, Relaxed);
        self.target.id.store(id.as_u64(), Relaxed);
        self.is_new.set(true);
        true
    }

    /// Whether the future is to be polled.
    pub(in crate::sched) fn is_woken(&self) -> bool {
        self.is_new.get() || self.target.woken.load(Acquire)
    }

    /// The same; the caller polls the future.
    #[inline]
    pub(in crate::sched) fn take_woken(&self) -> bool {
        self.is_new.replace(false) || self.target.woken.swap(false, AcqRel)
    }

    /// The waker for a poll.
    #[inline]
    pub(in crate::sched) fn waker(&self) -> &Waker {
        self.observer().map_or(&self.waker, Observer::view)
    }

    /// `None`: wakers are not observed.
    pub(in crate::sched) fn observer(&self) -> Option<&Observer> {
        Observer::of(&self.waker)
    }
}
