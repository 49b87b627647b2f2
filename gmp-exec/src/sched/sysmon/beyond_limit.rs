//! Letting one more poll compute beyond `max_hogs`, when it is time.

use std::time::Duration;

use crate::sched::handoff::take::TakeOutcome;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::takeable::Note;
use crate::sched::sysmon::excess::WAITS;
use crate::sched::sysmon::memory::Memory;
use crate::sync::Arc;

impl Scheduler {
    /// Lets one more poll compute without a processor, if it is time. `refused`: a poll whose
    /// processor may not be taken yet.
    pub(super) fn grant_one_extra(self: &Arc<Self>, memory: &mut Memory, refused: Option<&Note>) {
        let now = memory.time;
        if refused.is_none() && self.hogs.waiting() == 0 {
            memory.excess.since = None;
            return;
        }
        let since = *memory.excess.since.get_or_insert(now);
        // No processor has to stay longer with a poll that computes because of polls that sysmon has
        // counted later. There may be many.
        let excess = self.computing.excess(&self.hogs, refused.is_some());
        if now - since < self.wait_for_extra(excess) {
            return;
        }
        let excess = &mut memory.excess;
        excess.since = Some(now);
        let is_waiting_tasks_turn = excess.was_poll || refused.is_none();
        excess.was_poll = match refused {
            _ if is_waiting_tasks_turn && self.grant_extra_hog() => false,
            Some(note) => self.retake_beyond_limit(note) == TakeOutcome::Done,
            None => false,
        };
    }

    /// How long sysmon waits after it has let in one extra poll before it lets in the next.
    fn wait_for_extra(&self, excess: usize) -> Duration {
        let threshold = self.config.blocking_threshold;
        let unit = (self.idle.active() / 2).max(1);
        threshold * WAITS[(excess / unit).min(WAITS.len() - 1)] / 6
    }
}
