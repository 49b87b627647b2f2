//! Taking a processor from a machine that is stuck, and finding another machine for it (Go:
//! `retake`).
//!
//! `Ownership::take` decides whether the processor is taken; §3 of sched/README.md proves that this
//! is safe. `Takeable::take` calls it, under a lock that admits one taker at a time.

use crate::observe;
use crate::sched::handoff::assign::assign;
use crate::sched::hogs::{suspects, time_slice};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::computing::Counts;
use crate::sched::state::idle::Reserved;
use crate::sched::state::machine::ownership::{ProcessorToken, Region};
use crate::sched::state::machine::{Assignment, Birth, Machine};
use crate::sched::state::sysmon::calls;
use crate::sched::state::sysmon::expected::Level;
use crate::sched::state::takeable::Note;
use crate::sched::submit::threads::{say_no_thread, spawn_thread};
use crate::sched::submit::wake::{limit_hogs, wake_one_unfenced};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::StuckBy;

/// The outcome of an attempt to take a processor.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(in crate::sched) enum TakeOutcome {
    /// The processor has another machine.
    Done,
    /// The machine is no longer where it was seen to be stuck.
    Stale,
    /// The machine computes, and as many machines as allowed compute without a processor.
    Refused,
    /// No machine was available for the processor.
    NoMachine,
}

/// Whether a machine may compute without a processor although as many do so as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sched) enum Limit {
    MaxHogs,
    Exceeded,
}

/// What becomes of a processor that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sched) enum To {
    /// Another machine gets it.
    Machine,
    /// Nothing waits for it: it becomes idle, unless no machine sleeps in the netpoll, and sysmon
    /// need not look at the poll or section any longer.
    Idle,
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
        match take(scheduler, &note, Limit::MaxHogs, To::Machine) {
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

/// Takes a processor from a stuck machine. Its next machine is found first, so that no processor is
/// taken without a machine to run it. Only the sleeper, which wakes for no processor that does not
/// exist yet, is found afterwards, by the hand-off.
#[doc(alias = "retake")]
pub(in crate::sched) fn take(scheduler: &Arc<Scheduler>, note: &Note, limit: Limit, to: To) -> TakeOutcome {
    if limit == Limit::MaxHogs && is_beyond_limit(scheduler, note) {
        return TakeOutcome::Refused;
    }
    let heir = Heir::reserve(scheduler, to);
    if heir.is_none() && !may_hand_off(scheduler, to) {
        return TakeOutcome::NoMachine;
    }
    let Some(token) = time_slice::take(scheduler, note) else { return TakeOutcome::Stale };
    account(scheduler, token.index(), note);
    match heir {
        Some(heir) => heir.assign(token),
        None => assign(scheduler, token),
    }
    TakeOutcome::Done
}

/// Whether the machine would compute without a processor although as many do so as may.
fn is_beyond_limit(scheduler: &Scheduler, note: &Note) -> bool {
    note.cause == StuckBy::Computing
        && scheduler.hogs.is_exhausted()
        && !scheduler.computing.is_computing(&note.machine, note.seen.turn())
}

/// Whether there is a machine, or can be one, for a processor that has none reserved.
fn may_hand_off(scheduler: &Scheduler, to: To) -> bool {
    !scheduler.is_shutdown()
        && match to {
            To::Machine => scheduler.idle.has_sleeper(),
            To::Idle => !scheduler.idle.snapshot().is_exhausted(),
        }
}

/// A machine that is reserved for a processor. Dropping it gives the machine back.
struct Heir<'a> {
    scheduler: &'a Arc<Scheduler>,
    /// `None` only while being dropped.
    machine: Option<Arc<Machine>>,
}

impl<'a> Heir<'a> {
    /// `None`: none is needed or available, the system has no thread to give, or only sysmon may
    /// start one.
    fn reserve(scheduler: &'a Arc<Scheduler>, to: To) -> Option<Heir<'a>> {
        if to == To::Idle {
            return None;
        }
        let machine = match scheduler.idle.reserve()? {
            Reserved::Spare(machine) => Some(machine),
            Reserved::Start { id } => start(scheduler, id),
        };
        Some(Heir { scheduler, machine: Some(machine?) })
    }

    fn assign(mut self, token: ProcessorToken) {
        let Some(machine) = self.machine.take() else { return };
        machine.assign(Assignment::Run { token, spinning: false });
        fence(SeqCst);
        machine.unpark();
    }
}

impl Drop for Heir<'_> {
    fn drop(&mut self) {
        let Some(machine) = self.machine.take() else { return };
        self.scheduler.idle.put_back(machine);
        // A submitter that arrived while this machine was reserved may have found no spare. Wake one
        // for it.
        fence(SeqCst);
        if self.scheduler.has_visible_work() {
            wake_one_unfenced(self.scheduler);
        }
    }
}

/// Starts the thread of a machine that `idle` has counted.
fn start(scheduler: &Arc<Scheduler>, id: usize) -> Option<Arc<Machine>> {
    let machine = Machine::new(id);
    if scheduler.sysmon.starts.may_start_here() {
        match spawn_thread(scheduler, &machine, Birth::Reserved) {
            Ok(()) => return Some(machine),
            Err(error) => say_no_thread(scheduler, &error),
        }
    }
    scheduler.idle.uncount_machine();
    None
}

/// Counts and reports the take of a processor.
fn account(scheduler: &Arc<Scheduler>, index: usize, note: &Note) {
    observe::on_take(scheduler, index, note);
    let processor = &scheduler.processors[index];
    match note.cause {
        StuckBy::Blocking => processor.counters.taken_blocked.add_shared(1),
        StuckBy::Computing => {
            processor.counters.taken_computing.add_shared(1);
            let _ = scheduler.computing.computes(&note.machine, note.seen.turn(), Counts::Taken);
            limit_hogs(scheduler);
            suspects::suspect_place_of(scheduler, &note.machine, note.seen.turn());
        }
    }
    match note.seen.region {
        Region::Blocking => scheduler.closures.length.note(true),
        Region::Poll => {
            scheduler.sysmon.expected.set(Level::News);
            scheduler.sysmon.list_absent(&note.machine, note.seen.turn());
        }
        _ => {}
    }
    // No machine has looked at this processor's timers while it was stuck, and its next tasks may get
    // stuck, too.
    processor.ask_for_look();
}
