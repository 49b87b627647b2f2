//! Taking a processor from a machine that is stuck, and handing it off in that machine's place (Go:
//! `retake`).
//!
//! `Ownership::take` decides whether the processor is taken; §3 of sched/README.md proves that this
//! is safe. `Takeable::take` calls it, under a lock that admits one taker at a time.

use crate::observe;
use crate::sched::handoff::assign::assign;
use crate::sched::hogs::{self, suspects};
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::sysmon::calls;
use crate::sched::state::sysmon::expected::Level;
use crate::sched::state::takeable::Note;
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::say_no_thread;
use crate::sync::Arc;
use crate::task::StuckBy;

/// The outcome of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::sched) enum TakeOutcome {
    /// The processor was handed off.
    Done,
    /// The machine is no longer where it was seen to be stuck.
    Stale,
    /// The machine computes, and as many machines as allowed compute without a processor.
    Refused,
    /// No machine was available for the processor.
    NoMachine,
}

/// Offers a machine's processor again, as the machine returns from scheduler code into a section that
/// will block. A taker that came in between found the processor in use, and will not come again.
#[cold]
pub(in crate::sched) fn offer_again(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) {
    if machine.ownership.holds().is_some() {
        scheduler.takeable.offer(machine);
        if scheduler.has_visible_work() {
            take_listed(scheduler);
        }
    }
}

/// For a submitter that found no idle processor: takes a listed processor, if there is one, and
/// finds a machine for it. If no machine is available, the entry stays listed, and the next machine
/// that comes back asks again (`wake::ask_once_more`). `false`: none of the listed machines holds a
/// processor that may be taken.
#[cold]
pub(in crate::sched) fn take_listed(scheduler: &Arc<Scheduler>) -> bool {
    while !scheduler.idle.snapshot().is_exhausted() {
        let Some(note) = scheduler.takeable.pop() else { return false };
        match take_within_limit(scheduler, &note) {
            // A refusal is temporary: sysmon takes beyond the limit after a while.
            TakeOutcome::Stale | TakeOutcome::Refused => {}
            TakeOutcome::Done => break,
            TakeOutcome::NoMachine => {
                scheduler.takeable.put_back(note);
                if !scheduler.sysmon.starts.may_start_here() {
                    scheduler.sysmon.calls.add(calls::START);
                }
                // A machine that came back before the entry was listed again has not seen it, and may
                // be the machine that was missing. `snapshot` takes the lock under which it was listed.
                if scheduler.is_shutdown() || scheduler.idle.snapshot().spares == 0 {
                    break;
                }
            }
        }
    }
    true
}

/// [Takes](take) a processor, unless its machine would compute without one although as many machines do
/// so as may.
pub(in crate::sched) fn take_within_limit(scheduler: &Arc<Scheduler>, note: &Note) -> TakeOutcome {
    let is_beyond_limit = note.cause == StuckBy::Computing && scheduler.hogs.is_exhausted();
    if is_beyond_limit { TakeOutcome::Refused } else { take(scheduler, note) }
}

/// Takes a processor from a stuck machine, and hands it off in that machine's place, unless no other
/// machine is available.
#[doc(alias = "retake")]
pub(in crate::sched) fn take(scheduler: &Arc<Scheduler>, note: &Note) -> TakeOutcome {
    if !is_machine_available(scheduler) {
        return TakeOutcome::NoMachine;
    }
    let Some(token) = hogs::take(scheduler, note) else { return TakeOutcome::Stale };
    account(scheduler, token.index(), note);
    assign(scheduler, token);
    if scheduler.is_shutdown() {
        // The other machines may all have left, and the stuck one may stay.
        drain_late(scheduler);
    }
    TakeOutcome::Done
}

/// Whether a machine is idle, or this thread may start one. A machine that is beyond the number of
/// processors needs head-room: without it a stuck machine keeps its processor.
fn is_machine_available(scheduler: &Scheduler) -> bool {
    let idle = scheduler.idle.snapshot();
    if scheduler.is_shutdown() || idle.is_exhausted() {
        return false;
    }
    idle.spares > 0
        || scheduler.sysmon.starts.may_start_here()
            && check_head_room(scheduler).inspect_err(|error| say_no_thread(scheduler, error)).is_ok()
}

/// Counts and reports the take of a processor.
fn account(scheduler: &Arc<Scheduler>, index: usize, note: &Note) {
    observe::on_take(scheduler, index, note);
    let processor = &scheduler.processors[index];
    match note.cause {
        StuckBy::Blocking => processor.counters.taken_blocked.add_shared(1),
        StuckBy::Computing => {
            processor.counters.taken_computing.add_shared(1);
            suspects::suspect_place_of(scheduler, &note.machine, note.seen.turn());
        }
    }
    match note.seen.region {
        Region::Blocking => scheduler.closures.length.note(true),
        Region::Poll => scheduler.sysmon.expected.set(Level::News),
        _ => {}
    }
    // No machine has looked at this processor's timers while it was stuck, and its next tasks may get
    // stuck, too.
    processor.ask_for_look();
}
