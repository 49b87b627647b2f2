//! What the recorder learns of the future given to `block_on`: its polls, and what wakes it.

use std::cell::OnceCell;
use std::panic::Location;
use std::rc::Rc;

use crate::context;
use crate::sched::local::Local;
use crate::sched::observe::local_record;
use crate::sched::observe::record::on_machine_of;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::unusual::RECORDS;
use crate::sync::Arc;
use crate::task::Id;
use crate::trace::{Kind, Owner, RootName, Tap};

/// The future is about to be polled by the thread that drives a current-thread runtime.
pub(in crate::sched) fn begin(local: &Local, root: RootName) {
    if local.unusual.is_any(RECORDS) {
        local.tap.begin_root(root, local.machine.ownership.holds());
    }
}

pub(in crate::sched) fn end(local: &Local, is_ready: bool) {
    if local.unusual.is_any(RECORDS) {
        local.tap.end_root(is_ready);
    }
}

/// The future of a current-thread runtime is about to be woken. `is_woken`: whether it was woken
/// already.
#[inline]
pub(in crate::sched) fn wake(scheduler: &Arc<Scheduler>, root: impl FnOnce() -> u64, is_woken: impl FnOnce() -> bool) {
    if scheduler.recorded.is_used() && !is_woken() {
        let root = root();
        on_machine_of(scheduler, |local| match local {
            Some(local) => local.tap.record(Kind::Wake, root, 0),
            None => wake_outside(scheduler, root),
        });
    }
}

#[cold]
fn wake_outside(scheduler: &Scheduler, root: u64) {
    if let Some(recording) = scheduler.recorded.current() {
        recording.record_outside(Kind::Wake, root, 0);
    }
}

/// The waker of a future on a thread that is no machine. It must not keep the runtime alive, so it
/// knows the runtime's address, and only wake-ups by machines are recorded.
#[derive(Debug)]
pub(crate) struct RootWaker {
    scheduler: usize,
    root: Id,
}

impl RootWaker {
    /// The future is about to be woken. `is_woken`: whether it was woken already.
    pub(crate) fn wake(&self, is_woken: impl FnOnce() -> bool) {
        let is_recorded =
            |local: &&Local| Arc::as_ptr(&local.scheduler).addr() == self.scheduler && local.unusual.is_any(RECORDS);
        context::with_machine(|local| {
            if let Some(local) = local.filter(is_recorded).filter(|_| !is_woken()) {
                local.tap.record(Kind::Wake, self.root.as_u64(), 0);
            }
        });
    }
}

/// The polls of a future on a thread that is no machine.
pub(crate) struct RootRecord<'a> {
    scheduler: &'a Arc<Scheduler>,
    root: RootName,
    /// Made when the first poll is recorded.
    tap: OnceCell<Rc<Tap>>,
}

impl<'a> RootRecord<'a> {
    /// `location`: where `block_on` was called.
    pub(crate) fn new(scheduler: &'a Arc<Scheduler>, location: &'static Location<'static>) -> RootRecord<'a> {
        RootRecord { scheduler, root: RootName { id: Id::next(), location }, tap: OnceCell::new() }
    }

    pub(crate) fn waker(&self) -> RootWaker {
        RootWaker { scheduler: Arc::as_ptr(self.scheduler).addr(), root: self.root.id }
    }

    /// Polls the future, and records the poll.
    pub(crate) fn poll<T>(&self, poll: impl FnOnce() -> Option<T>) -> Option<T> {
        if !self.scheduler.recorded.is_used() {
            return poll();
        }
        let tap = self.tap.get_or_init(Rc::default);
        tap.notice(&self.scheduler.recorded, Owner::BlockOn);
        tap.begin_root(self.root, None);
        let left = local_record::enter_block_on(self.scheduler, tap);
        let output = poll();
        drop(left);
        tap.end_root(output.is_some());
        output
    }
}
