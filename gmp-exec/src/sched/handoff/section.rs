//! Blocking sections: parts of a poll that are declared to block (Go: `entersyscall`).

use crate::observe::{self, Event};
use crate::sched::enter::InScheduler;
use crate::sched::handoff::take::{offer_again, take_listed};
use crate::sched::handoff::{hand_off, has_waiting_work};
use crate::sched::local::Local;
use crate::sched::shutdown::last_poll::Outside;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::push_tail;

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
    let _end = begin(local, section);
    let _budget = crate::task::coop::with_budget(None);
    f()
}

/// `None`: the machine was in scheduler code already.
fn begin(local: &Local, section: Section) -> Option<End<'_>> {
    let scheduler = &local.scheduler;
    let guard = local.enter();
    let before = guard.came_from();
    if before == Region::Scheduler {
        return None;
    }
    observe::on(local, Event::SectionBegin);
    let outer = local.in_section.replace(true);
    if !scheduler.config.sysmon {
        // Only sysmon would notice work that comes later, a timer of this processor included.
        give_away(local, &guard);
        guard.leave_for(Region::Offered);
        offer_again(scheduler, &local.machine);
    } else if section == Section::WillBlock || before == Region::Offered {
        guard.leave_for(Region::Offered);
        offer(local);
    } else {
        if has_waiting_work(local) {
            scheduler.sysmon.call();
        }
        guard.leave_for(Region::Blocking);
    }
    let outside = (section == Section::WillBlock).then(|| Outside::begin(local));
    Some(End { local, before, outer, outside })
}

/// The machine has begun a section that will block: offers its processor to submitters. This comes
/// before the only look at what waits, because a submitter looks for offers after it has published
/// (sched/README.md §7).
#[inline]
fn offer(local: &Local) {
    let Some(index) = local.machine.ownership.holds() else { return };
    let scheduler = &local.scheduler;
    scheduler.takeable.offer(&local.machine);
    // Other machines don't look into `runnext`.
    if scheduler.has_visible_work() || scheduler.processors[index].has_work() {
        something_waits(local);
    }
}

#[cold]
fn something_waits(local: &Local) {
    let scheduler = &local.scheduler;
    if has_waiting_work(local) {
        give_away(local, &local.enter());
    } else {
        take_listed(scheduler);
    }
}

/// Gives the processor to another machine. If none is available, the processor stays for now. The
/// first machine that comes back looks for visible work, and the task in `runnext` is not visible,
/// so it moves to the ring.
fn give_away(local: &Local, guard: &InScheduler<'_>) {
    if guard.held().is_some() {
        hand_off(local);
    }
    if let Some(held) = guard.held() {
        if let Some(task) = held.processor.runnext.take(&held.proof) {
            push_tail(&local.scheduler, &held, task);
        }
    }
}

/// Ends a blocking section, even if the closure panics.
#[doc(alias = "exitsyscall")]
struct End<'a> {
    local: &'a Local,
    before: Region,
    /// Whether this section is inside another one.
    outer: bool,
    /// Dropped before the poll goes on.
    outside: Option<Outside<'a>>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        // The poll goes on without a processor if that was taken or handed off. The machine gets
        // another one when the poll ends.
        observe::on(self.local, Event::SectionEnd);
        let guard = self.local.enter();
        self.local.in_section.set(self.outer);
        drop(self.outside.take());
        guard.leave_for(self.before);
        if self.before == Region::Offered {
            offer_again(&self.local.scheduler, &self.local.machine);
        }
    }
}
