//! Handing a processor off: a machine gives its processor to another machine before it does
//! something that will take long (Go: `handoffp`).
//!
//! Whatever makes `find_runnable` return must make `hand_off` find a machine: work in the ring or
//! in `runnext`, the global queue, a netpoll in which no machine sleeps. Without any of these the
//! processor goes on the idle list. The machine then looks once more, as every machine that goes
//! idle does.

pub(in crate::sched) mod no_machine;
pub(crate) mod section;
pub(crate) mod take;

use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::submit::wake::{announce_timer, perform, wake_one};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// Hands off the machine's processor, unless no other machine is available. The machine is inside
/// `Region::Scheduler`.
#[doc(alias = "handoffp")]
pub(in crate::sched) fn hand_off(local: &Local) {
    let scheduler = &local.scheduler;
    if scheduler.is_shutdown() {
        return shutdown::leave(local);
    }
    if scheduler.idle.snapshot().is_exhausted() {
        return;
    }
    if let Some(token) = local.machine.ownership.release() {
        local.record_release(Some(&token), 1);
        give(scheduler, token);
    }
}

/// Assigns the processor to another machine if it is needed. Otherwise puts it on the idle
/// list.
pub(in crate::sched) fn give(scheduler: &Arc<Scheduler>, token: ProcessorToken) {
    let index = token.index();
    if is_needed(scheduler, index) {
        return match scheduler.idle.assign_machine(token) {
            Ok(wake) => perform(scheduler, wake),
            Err(token) => no_machine::put(scheduler, token),
        };
    }
    scheduler.processors[index].busy.end(scheduler.clock.running_ns());
    scheduler.idle.put(token);
    fence(SeqCst);
    if is_needed(scheduler, index) {
        wake_one(scheduler);
    } else {
        announce_timer(scheduler, scheduler.processors[index].timers.earliest());
    }
}

/// Whether processor `index` is needed: because work waits, or because no machine sleeps in the
/// netpoll.
fn is_needed(scheduler: &Scheduler, index: usize) -> bool {
    scheduler.processors[index].has_work() || scheduler.has_visible_work() || !scheduler.idle.has_sleeper()
}

/// Whether work waits for the processor that this machine holds, or for any processor.
pub(in crate::sched) fn has_waiting_work(local: &Local) -> bool {
    let (scheduler, holds) = (&local.scheduler, local.machine.ownership.holds());
    holds.is_some_and(|index| scheduler.processors[index].has_work() || !scheduler.global.is_empty())
}

/// The same, but of the global queue only the part at which this processor begins to search.
/// For a hint: a look at all parts asks as many other cores.
pub(in crate::sched) fn has_work_nearby(local: &Local) -> bool {
    let (scheduler, holds) = (&local.scheduler, local.machine.ownership.holds());
    holds.is_some_and(|index| scheduler.processors[index].has_work() || !scheduler.global.is_part_empty(index))
}
