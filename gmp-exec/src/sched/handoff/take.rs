//! Taking a processor from a machine that is stuck, and handing it off in that machine's place (Go:
//! `retake`).
//!
//! `Ownership::take` decides whether the processor is taken; §3 of sched/README.md proves that this
//! is safe.

use crate::observe;
use crate::sched::hogs::time_slice;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::machine::{Machine, Stuck};
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::say_no_thread;
use crate::sched::submit::wake::{assign, submit_permitted};
use crate::sync::Arc;
use crate::sys::time_slice::TimeSlice;
use crate::task::StuckBy;

/// Takes a processor from a stuck machine, and hands it off in that machine's place. `false`: the machine
/// is no longer where it was seen to be stuck, or no other machine is available. A machine that computes
/// goes on with a permit and a long time slice.
#[doc(alias = "retake")]
pub(in crate::sched) fn take(scheduler: &Arc<Scheduler>, stuck: &Stuck) -> bool {
    if !is_machine_available(scheduler) {
        return false;
    }
    let computes = stuck.cause == StuckBy::Computing;
    if computes {
        // Before the take: afterwards the machine may have given both back already.
        scheduler.hogs.acquire_beyond_limit();
        time_slice::set(scheduler, &stuck.machine, TimeSlice::Long);
    }
    let Some(token) = stuck.take(scheduler.clock.running_ns()) else {
        if computes {
            give_back(scheduler, &stuck.machine);
        }
        return false;
    };
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
            if let Some(running) = stuck.machine.running_in(stuck.seen.turn()) {
                scheduler.suspects.add(running.location);
            }
        }
    }
    // No machine has looked at this processor's timers while it was stuck, and its next tasks may get
    // stuck, too.
    processor.ask_for_look();
}

/// The machine does not compute without a processor, or does so no longer: it gives back what
/// [`take`] has given.
pub(in crate::sched) fn give_back(scheduler: &Arc<Scheduler>, machine: &Machine) {
    time_slice::set(scheduler, machine, TimeSlice::Short);
    scheduler.hogs.release_to_next().into_iter().for_each(|task| submit_permitted(scheduler, task));
}
