//! When timers and I/O end: after the last poll.
//!
//! A task must never see that its runtime ends. If timers or I/O failed while a poll is under way,
//! a loop that goes on after errors (`while let Err(_) = listener.accept().await`) would never
//! return from that poll. So the runtime ends in two steps. First no new poll begins and all
//! futures are dropped (`shutdown`). Then timers and I/O end, for threads outside of the runtime
//! that still wait for them.
//!
//! The second step comes when the tasks are closed, every processor was drained, and no machine is
//! inside a poll. Other threads bring about each of the three, so each of them calls
//! [`end_if_last`] afterwards, and the last one finds all three true
//! (sched/README.md §9).
//!
//! `block_in_place` and `block_on` count as outside of the poll, as on tokio: they may wait for a
//! timer of this runtime, and the end of timers would wait for them. Other blocking sections count
//! as part of the poll: gmp-io has them inside operations, without the task's knowledge.

use crate::context;
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::fence;
use crate::sys::membarrier;
use crate::time::timers::wake_all;

/// Ends timers and I/O if no poll is under way and none can begin. The caller has just made one
/// of the steps towards that.
#[cold]
pub(in crate::sched) fn end_if_last(scheduler: &Scheduler) {
    // Between the caller's own step and its look at the steps of other threads.
    fence(SeqCst);
    if !scheduler.last_poll.is_closed(|| scheduler.processors.len()) {
        return;
    }
    let may_poll = || scheduler.all_machines.any(|machine| machine.may_poll.load(Relaxed));
    if may_poll() {
        // Where the barrier fails, a machine may seem to be in a poll that it has just left. There
        // is no other way to learn of that.
        let _ = membarrier::heavy();
        if may_poll() {
            return;
        }
    }
    if scheduler.last_poll.begin_end() {
        end(scheduler);
    }
}

fn end(scheduler: &Scheduler) {
    // Wakes every future that waits for a timer: one on another runtime, or in `block_on`. Its
    // next poll panics with the reason.
    scheduler.processors.iter().for_each(|processor| wake_all(processor.timers.take_all()));
    // Pairs with `Handle::netpoll`, which installs a netpoll first and looks for the end
    // second.
    fence(SeqCst);
    if let Some(netpoll) = scheduler.netpoll_gate.netpoll() {
        netpoll.shutdown();
    }
}

/// Runs `f`, which may wait for timers or the network of `scheduler`. If this is a machine of that
/// scheduler, `f` counts as outside of the poll.
pub(crate) fn outside<R>(scheduler: &Arc<Scheduler>, f: impl FnOnce() -> R) -> R {
    context::with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler));
        let _outside = local.map(Outside::begin);
        f()
    })
}

/// While it exists, the end of the runtime does not wait for the machine.
pub(in crate::sched) struct Outside<'a> {
    local: &'a Local,
    /// Whether the machine was in a poll before.
    may_poll: bool,
}

impl Outside<'_> {
    pub(in crate::sched) fn begin(local: &Local) -> Outside<'_> {
        Outside { local, may_poll: step_out(local) }
    }
}

impl Drop for Outside<'_> {
    fn drop(&mut self) {
        self.local.machine.may_poll.store(self.may_poll, Relaxed);
    }
}

/// From here on the end of the runtime does not wait for the machine. Returns whether it did
/// before. Pairs with `end_if_last`: the shutdown flag is set before the heavy fence there, so this
/// machine sees the flag, or `end_if_last` sees this store.
#[inline]
pub(in crate::sched) fn step_out(local: &Local) -> bool {
    let before = local.machine.may_poll.load(Relaxed);
    local.machine.may_poll.store(false, Relaxed);
    membarrier::light();
    if local.scheduler.is_shutdown() {
        end_if_last(&local.scheduler);
    }
    before
}
