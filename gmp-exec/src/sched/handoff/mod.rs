//! Handing a processor off: a machine gives its processor to another machine before it does
//! something that will take long (Go: `handoffp`).
//!
//! Whatever makes `find_runnable` return must make `hand_off` find a machine: work in the ring or
//! in `runnext`, the global queue, a netpoll in which no machine sleeps. Without any of these the
//! processor goes on the idle list. The machine then looks once more, as every machine that goes
//! idle does.

mod no_machine;
pub(crate) mod section;
pub(crate) mod take;

use crate::observe::{self, Event};
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

/// Hands off the machine's processor, unless no other machine is available. The machine is inside
/// `Region::Scheduler`.
#[doc(alias = "handoffp")]
pub(in crate::sched) fn hand_off(local: &Local) {
    let scheduler = &local.scheduler;
    if scheduler.is_shutdown() {
        return shutdown::leave(local);
    }
    if scheduler.idle.snapshot().is_exhausted() {
        return;
    }
    if let Some(token) = local.machine.ownership.release() {
        observe::on(local, Event::HandOff(&token));
        scheduler.hand_off(token);
    }
}

impl Scheduler {
    /// Assigns the processor to another machine if it is needed. Otherwise puts it on the idle
    /// list.
    pub(in crate::sched) fn hand_off(self: &Arc<Self>, token: ProcessorToken) {
        let index = token.index();
        if self.is_needed(index) {
            return match self.idle.assign_machine(token) {
                Ok(wake) => self.perform(wake),
                Err(token) => self.put_without_machine(token),
            };
        }
        self.processors[index].busy.end(self.clock.running_ns());
        self.idle.put(token);
        fence(SeqCst);
        if self.is_needed(index) {
            self.wake_one();
        } else {
            self.announce_timer(self.processors[index].timers.earliest());
        }
    }

    /// Whether processor `index` is needed: because work waits, or because no machine sleeps in the
    /// netpoll.
    fn is_needed(&self, index: usize) -> bool {
        self.processors[index].has_work() || self.has_visible_work() || !self.idle.has_sleeper()
    }

    /// Whether work waits for the processor that this machine holds, or for any processor.
    pub(in crate::sched) fn has_waiting_work(&self, local: &Local) -> bool {
        let holds = local.machine.ownership.holds();
        holds.is_some_and(|index| self.processors[index].has_work() || !self.global.is_empty())
    }

    /// The same, but of the global queue only the part at which this processor begins to search.
    /// For a hint: a look at all parts asks as many other cores.
    pub(in crate::sched) fn has_work_nearby(&self, local: &Local) -> bool {
        let holds = local.machine.ownership.holds();
        holds.is_some_and(|index| self.processors[index].has_work() || !self.global.is_part_empty(index))
    }
}
