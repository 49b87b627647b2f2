//! Blocking sections: parts of a poll that are declared to block.

use crate::sched::handoff::give_on;
use crate::sched::local::{Held, InSched, Local};
use crate::sched::shutdown::last_poll;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::push_tail;

/// Runs `f` as a blocking section: the processor may be taken at any moment. `at_once`: the caller says that it will
/// block, so the processor is given on if anything waits for it.
///
/// Not so where the machine's own code has called `f`, through a foreign waker that a timer or the network has woken: that
/// code goes on with the processor afterwards, so nobody may have it meanwhile.
pub(crate) fn blocking_section<R>(local: &Local, at_once: bool, f: impl FnOnce() -> R) -> R {
    let _end = begin(local, at_once).map(|before| End {
        local,
        before,
        outer: local.in_section.replace(true),
        may_poll: if at_once { last_poll::step_out(local) } else { last_poll::may_poll(local) },
    });
    let _budget = crate::task::coop::with_budget(None);
    f()
}

/// `None`: the machine was in scheduler code already.
fn begin(local: &Local, at_once: bool) -> Option<Region> {
    let scheduler = &local.scheduler;
    let sched = local.enter();
    let before = sched.interrupted();
    if before == Region::Sched {
        return None;
    }
    // What comes later, a timer of this processor included, would be sysmon's to notice.
    let at_once = at_once || before == Region::Offered || !scheduler.config.sysmon;
    if sched.held().is_some() && (!scheduler.config.sysmon || scheduler.has_waiting_work(local)) {
        if at_once {
            give_on(local);
            sched.held().iter().for_each(|held| expose_next(local, held));
        } else {
            scheduler.sysmon.hurry();
        }
    }
    resume(local, sched, if at_once { Region::Offered } else { Region::Blocking });
    Some(before)
}

/// No machine was to be had, and the processor stays for now. The first machine that comes back looks for what is visible, and
/// `runnext` is not.
fn expose_next(local: &Local, held: &Held<'_>) {
    if let Some(task) = held.processor.runnext.take(&held.proof) {
        push_tail(&local.scheduler, held, task);
    }
}

/// Leaves scheduler code for a section, or back to what was before it.
fn resume(local: &Local, sched: InSched<'_>, region: Region) {
    let keeps = sched.held().is_some();
    sched.into_section(region);
    if keeps && region == Region::Offered {
        offer(local);
    }
}

/// Whoever came for the processor while the machine was in scheduler code has found it in use, and will not come again.
/// (Called at every return into a section that offers its processor.)
#[cold]
pub(in crate::sched) fn offer_again(local: &Local) {
    if local.machine.ownership.holds().is_some() {
        offer(local);
    }
}

/// Makes sure that whoever needs a processor learns that this machine's may be taken.
fn offer(local: &Local) {
    local.scheduler.overdue.offer(&local.machine);
    if local.scheduler.has_visible_work() {
        local.scheduler.take_overdue();
    }
}

/// Ends a blocking section, also when the closure panics.
struct End<'a> {
    local: &'a Local,
    before: Region,
    /// Whether this section is inside another one.
    outer: bool,
    /// Whether the end of the runtime has waited for the poll around it.
    may_poll: bool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        // A processor that was taken, or given on, is not missed here: a poll needs none. The machine gets another one
        // when the poll ends.
        let sched = self.local.enter();
        self.local.in_section.set(self.outer);
        last_poll::step_in(self.local, self.may_poll);
        resume(self.local, sched, self.before);
    }
}
