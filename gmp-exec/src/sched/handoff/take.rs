//! Taking a processor from a machine that is stuck, and handing it off in that machine's place (Go:
//! `retake`).
//!
//! `Ownership::take` decides whether the processor is taken; §3 of sched/README.md proves that this
//! is safe.

use crate::observe;
use crate::sched::handoff::assign::assign;
use crate::sched::hogs::{self, suspects};
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::machine::Stuck;
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::say_no_thread;
use crate::sync::Arc;
use crate::task::StuckBy;

/// Takes a processor from a stuck machine, and hands it off in that machine's place. `false`: the machine
/// is no longer where it was seen to be stuck, or no other machine is available.
#[doc(alias = "retake")]
pub(in crate::sched) fn take(scheduler: &Arc<Scheduler>, stuck: &Stuck) -> bool {
    if !is_machine_available(scheduler) {
        return false;
    }
    let Some(token) = hogs::take(scheduler, stuck) else { return false };
    account(scheduler, token.index(), stuck);
    assign(scheduler, token);
    if scheduler.is_shutdown() {
        // The other machines may all have left, and the stuck one may stay.
        drain_late(scheduler);
    }
    true
}

/// Whether a machine is idle, or one may be started. A machine that is beyond the number of
/// processors needs head-room: without it a stuck machine keeps its processor.
fn is_machine_available(scheduler: &Scheduler) -> bool {
    let idle = scheduler.idle.snapshot();
    if scheduler.is_shutdown() || idle.is_exhausted() {
        return false;
    }
    idle.spares > 0 || check_head_room(scheduler).inspect_err(|error| say_no_thread(scheduler, error)).is_ok()
}

/// Counts and reports the take of a processor.
fn account(scheduler: &Arc<Scheduler>, index: usize, stuck: &Stuck) {
    observe::on_take(scheduler, index, stuck);
    let processor = &scheduler.processors[index];
    match stuck.cause {
        StuckBy::Blocking => processor.counters.taken_blocked.add_shared(1),
        StuckBy::Computing => {
            processor.counters.taken_computing.add_shared(1);
            suspects::suspect_place_of(scheduler, &stuck.machine, stuck.seen.turn());
        }
    }
    // No machine has looked at this processor's timers while it was stuck, and its next tasks may get
    // stuck, too.
    processor.ask_for_look();
}
