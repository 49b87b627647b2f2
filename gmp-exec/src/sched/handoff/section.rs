//! Blocking sections: parts of a poll that are declared to block (Go: `entersyscall`).

use crate::observe::{self, Event};
use crate::sched::handoff::{hand_off, has_work_nearby};
use crate::sched::local::Local;
use crate::sched::shutdown::last_poll::Outside;
use crate::sched::state::machine::ownership::Region;

/// How sure the caller is that a section blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The section will block: the machine hands its processor off. The section counts as outside of
    /// the poll (`last_poll`).
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
    let before = guard.came_from;
    if before == Region::Scheduler {
        return None;
    }
    observe::on(local, Event::SectionBegin);
    let outer = local.in_section.replace(true);
    // Without sysmon no thread would notice work that comes later, a timer of this processor included.
    if section == Section::WillBlock || !scheduler.config.sysmon {
        hand_off(local);
    } else if has_work_nearby(local) {
        scheduler.sysmon.call();
    }
    guard.leave_for(Region::Blocking);
    let outside = (section == Section::WillBlock).then(|| Outside::begin(local));
    Some(End { local, before, outer, outside })
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
    }
}
