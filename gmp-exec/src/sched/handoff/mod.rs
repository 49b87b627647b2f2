//! Handing a processor off: a machine gives its processor to another machine before it does
//! something that will take long (Go: `handoffp`).
//!
//! Whatever makes `find_runnable` return must make `hand_off` find a machine: work in the ring or
//! in `runnext`, the global queue, a netpoll in which no machine sleeps. Without any of these the
//! processor goes on the idle list. The machine then looks once more, as every machine that goes
//! idle does.

pub(crate) mod section;
pub(crate) mod take;

use crate::observe::{self, Event};
use crate::sched::local::Local;
use crate::sched::shutdown;
use crate::sched::submit::wake::assign;

/// Hands off the machine's processor, if it holds one. The machine is inside `Region::Scheduler`.
#[doc(alias = "handoffp")]
pub(in crate::sched) fn hand_off(local: &Local) {
    let scheduler = &local.scheduler;
    if scheduler.is_shutdown() {
        return shutdown::leave(local);
    }
    if let Some(token) = local.machine.ownership.release() {
        observe::on(local, Event::HandOff(&token));
        assign(scheduler, token);
    }
}

/// Whether work waits for the processor that this machine holds, or for any processor. A hint: the caller
/// looks only at the part of the global queue at which this processor begins to search, because a look at
/// all parts would ask as many other cores.
pub(in crate::sched) fn has_work_nearby(local: &Local) -> bool {
    let (scheduler, holds) = (&local.scheduler, local.machine.ownership.holds());
    holds.is_some_and(|index| scheduler.processors[index].has_work() || !scheduler.global.is_part_empty(index))
}
