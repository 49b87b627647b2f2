//! Blocking sections: parts of a poll that are declared to block.

use crate::sched::handoff::hand_off;
use crate::sched::local::{Held, InScheduler, Local};
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
    let guard = local.enter();
    let before = guard.came_from();
    if before == Region::Scheduler {
        return None;
    }
    // What comes later, a timer of this processor included, would be sysmon's to notice.
    let at_once = at_once || before == Region::Offered || !scheduler.config.sysmon;
    if guard.held().is_some() && (!scheduler.config.sysmon || scheduler.has_waiting_work(local)) {
        if at_once {
            hand_off(local);
            guard.held().iter().for_each(|held| publish_runnext(local, held));
        } else {
            scheduler.sysmon.look_soon();
        }
    }
    resume(local, guard, if at_once { Region::Offered } else { Region::Blocking });
    Some(before)
}

/// No machine was to be had, and the processor stays for now. The first machine that comes back looks for what is visible, and
/// `runnext` is not.
fn publish_runnext(local: &Local, held: &Held<'_>) {
    if let Some(task) = held.processor.runnext.take(&held.proof) {
        push_tail(&local.scheduler, held, task);
    }
}

/// Leaves scheduler code for a section, or back to what was before it.
fn resume(local: &Local, guard: InScheduler<'_>, region: Region) {
    let keeps = guard.held().is_some();
    guard.leave_for(region);
    if keeps && region == Region::Offered {
        local.scheduler.offer(&local.machine);
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
        let guard = self.local.enter();
        self.local.in_section.set(self.outer);
        last_poll::step_in(self.local, self.may_poll);
        resume(self.local, guard, self.before);
    }
}
