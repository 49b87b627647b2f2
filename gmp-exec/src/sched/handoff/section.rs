//! Blocking sections: parts of a poll that are declared to block (Go: `entersyscall`).

use crate::context;
use crate::sched::handoff::hand_off;
use crate::sched::local::{Held, InScheduler, Local};
use crate::sched::shutdown::last_poll;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::push_tail;
use crate::trace::Kind;

/// How sure the caller is that a section blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The section will block: the processor goes to another machine at once if anything waits for
    /// it. The section counts as outside of the poll (`last_poll`).
    WillBlock,
    /// The section may be short: the processor stays until sysmon takes it. The section counts as
    /// part of the poll.
    MayBlock,
}

/// Runs `f` as a blocking section: the processor may be taken at any moment.
///
/// The section does nothing special if scheduler code has called `f`, through a foreign waker that
/// a timer or the network has woken. That code goes on with the processor afterwards, so no other
/// machine may take it.
#[doc(alias = "entersyscall")]
#[doc(alias = "entersyscallblock")]
pub(crate) fn blocking_section<R>(local: &Local, section: Section, f: impl FnOnce() -> R) -> R {
    let _end = begin(local, section).map(|before| End {
        local,
        before,
        outer: local.in_section.replace(true),
        may_poll: match section {
            Section::WillBlock => last_poll::step_out(local),
            Section::MayBlock => last_poll::may_poll(local),
        },
    });
    let _budget = crate::task::coop::with_budget(None);
    f()
}

/// `None`: the machine was in scheduler code already.
fn begin(local: &Local, section: Section) -> Option<Region> {
    let scheduler = &local.scheduler;
    let guard = local.enter();
    let before = guard.came_from();
    if before == Region::Scheduler {
        return None;
    }
    local.record(Kind::SectionBegin, context::current_task_id(), 0);
    // Without sysmon the processor is handed off even if nothing waits: only sysmon would notice
    // work that comes later, a timer of this processor included.
    let at_once = section == Section::WillBlock || before == Region::Offered || !scheduler.config.sysmon;
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

/// No machine was available, so the processor stays for now. The first machine that comes back
/// looks for visible work, and the task in `runnext` is not visible, so it moves to the ring.
fn publish_runnext(local: &Local, held: &Held<'_>) {
    if let Some(task) = held.processor.runnext.take(&held.proof) {
        push_tail(&local.scheduler, held, task);
    }
}

/// Leaves scheduler code for a section, or returns to the region around it.
fn resume(local: &Local, guard: InScheduler<'_>, region: Region) {
    let keeps = guard.held().is_some();
    guard.leave_for(region);
    if keeps && region == Region::Offered {
        local.scheduler.offer(&local.machine);
    }
}

/// Ends a blocking section, even if the closure panics.
#[doc(alias = "exitsyscall")]
struct End<'a> {
    local: &'a Local,
    before: Region,
    /// Whether this section is inside another one.
    outer: bool,
    /// Whether the end of the runtime waited for the poll around this section.
    may_poll: bool,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        // The poll goes on without a processor if that was taken or handed off. The machine gets
        // another one when the poll ends.
        self.local.record(Kind::SectionEnd, 0, 0);
        let guard = self.local.enter();
        self.local.in_section.set(self.outer);
        last_poll::step_in(self.local, self.may_poll);
        if self.before == Region::Poll && guard.held().is_none() {
            self.local.scheduler.watch(&self.local.machine, self.local.machine.ownership.turn());
        }
        resume(self.local, guard, self.before);
    }
}
