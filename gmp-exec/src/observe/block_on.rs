//! Futures given to `block_on` of a multi-thread runtime, and of a current-thread runtime that another
//! thread drives: their threads are no machines. The tap of such a thread is kept here while it polls.

use std::cell::{OnceCell, RefCell};
use std::panic::Location;
use std::rc::Rc;

use super::recorder::{Owner, Tap, is_any_recorded, tell};
use super::{Event, RootName, address, with_tap_of};
use crate::context;
use crate::sched::Scheduler;
use crate::sched::state::unusual::RECORDS;
use crate::sync::Arc;
use crate::task::{Header, Id};

thread_local! {
    static IN_BLOCK_ON: RefCell<Option<InBlockOn>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct InBlockOn {
    /// The address of the scheduler.
    runtime: usize,
    tap: Rc<Tap>,
}

/// Calls `f` with the tap of this thread, and the runtime to which the tap belongs.
pub(super) fn with_tap<R>(f: impl FnOnce(&Tap, usize) -> R) -> Option<R> {
    let entered = IN_BLOCK_ON.try_with(|current| current.borrow().clone()).ok().flatten();
    match entered {
        Some(InBlockOn { runtime, tap }) => Some(f(&tap, runtime)),
        None => context::with_machine(|local| {
            let local = local.filter(|local| local.unusual.is_any(RECORDS))?;
            Some(f(&local.tap.recorder, address(&local.scheduler)))
        }),
    }
}

/// A poll on a thread that is no machine ends, and the task waits.
pub(crate) fn on_wait_elsewhere(task: &Header) {
    if is_any_recorded() {
        with_tap(|tap, _| tell(tap, Event::Wait(task)));
    }
}

/// The waker of such a future. It must not keep the runtime alive, so it knows the runtime's address,
/// and only wake-ups by machines are recorded.
#[derive(Debug)]
pub(crate) struct RootWaker {
    runtime: usize,
    root: Id,
}

impl RootWaker {
    /// The future is about to be woken. `is_woken`: whether it was woken already.
    pub(crate) fn on_wake(&self, is_woken: impl FnOnce() -> bool) {
        with_tap_of(self.runtime, |tap| {
            if let Some(tap) = tap.filter(|_| !is_woken()) {
                tell(tap, Event::RootWake(self.root.as_u64()));
            }
        });
    }
}

/// The polls of such a future.
pub(crate) struct RootPolls<'a> {
    scheduler: &'a Arc<Scheduler>,
    root: RootName,
    /// Made when the first poll is recorded.
    tap: OnceCell<Rc<Tap>>,
}

impl<'a> RootPolls<'a> {
    /// `location`: where `block_on` was called.
    pub(crate) fn new(scheduler: &'a Arc<Scheduler>, location: &'static Location<'static>) -> RootPolls<'a> {
        RootPolls { scheduler, root: RootName { id: Id::next(), location }, tap: OnceCell::new() }
    }

    pub(crate) fn waker(&self) -> RootWaker {
        RootWaker { runtime: address(self.scheduler), root: self.root.id }
    }

    /// Polls the future, and records the poll.
    pub(crate) fn poll<T>(&self, poll: impl FnOnce() -> Option<T>) -> Option<T> {
        let recorded = &self.scheduler.observers.recorded;
        if !recorded.is_under_way() {
            // The recording that has ended gives its memory back.
            if let Some(tap) = self.tap.get() {
                tap.notice(recorded, Owner::BlockOn);
            }
            return poll();
        }
        let tap = self.tap.get_or_init(Rc::default);
        tap.notice(recorded, Owner::BlockOn);
        tell(tap, Event::RootBegin(self.root, None));
        let entered = InBlockOn { runtime: address(self.scheduler), tap: tap.clone() };
        let left = LeaveBlockOn { before: IN_BLOCK_ON.replace(Some(entered)) };
        let output = poll();
        drop(left);
        tell(tap, Event::RootEnd(output.is_some()));
        output
    }
}

struct LeaveBlockOn {
    before: Option<InBlockOn>,
}

impl Drop for LeaveBlockOn {
    fn drop(&mut self) {
        // While the thread ends nothing is polled.
        let _ = IN_BLOCK_ON.try_with(|current| current.replace(self.before.take()));
    }
}
