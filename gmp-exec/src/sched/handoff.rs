//! Giving a processor on: by its machine, before it does something that will take long.
//!
//! What makes `find_runnable` return must make `give_on` find a machine: work in the ring or in `runnext`, the global
//! queue, a poller that nobody sits in. With none of these the processor goes on the idle list; the machine then looks
//! once more, as every machine that retires does.

use super::idle::Wake;
use super::machine::{Held, InSched, Local};
use super::ownership::{ProcessorToken, Region};
use super::scheduler::Scheduler;
use super::submit::push_tail;
use super::{last_poll, shutdown};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// Gives the machine's processor on, unless no other machine can be had for it. The machine is inside `Sched`.
pub(super) fn give_on(local: &Local) {
    let scheduler = &local.scheduler;
    if scheduler.is_shutdown() {
        return shutdown::leave(local);
    }
    if scheduler.idle.snapshot().is_exhausted() {
        return;
    }
    if let Some(token) = local.machine.ownership.release() {
        scheduler.give_on(token);
    }
}

impl Scheduler {
    pub(super) fn give_on(self: &Arc<Self>, token: ProcessorToken) {
        let index = token.index();
        if self.is_needed(index) {
            return match self.idle.hand_over(token) {
                Wake::Nobody => self.send_for_spare(),
                wake => self.carry_out(wake, false),
            };
        }
        self.processors[index].end_busy(self.clock.running_ns());
        self.idle.put(token);
        fence(SeqCst);
        if self.is_needed(index) {
            self.wake_one();
        } else {
            self.announce_timer(self.processors[index].timers.earliest());
        }
    }

    /// Whether processor `index` has something to do.
    fn is_needed(&self, index: usize) -> bool {
        self.processors[index].has_work() || self.has_visible_work() || !self.idle.has_poller()
    }

    /// Whether something waits for the processor that this machine holds, or for any.
    pub(super) fn has_waiting_work(&self, local: &Local) -> bool {
        let own = local.machine.ownership.holds();
        own.is_some_and(|index| self.processors[index].has_work()) || !self.global.is_empty()
    }
}

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
pub(super) fn offer_again(local: &Local) {
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
