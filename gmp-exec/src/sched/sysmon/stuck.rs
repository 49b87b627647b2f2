//! Taking the processors of machines that are stuck, or listing them as takeable.

use std::time::{Duration, Instant};

use crate::observe;
use crate::sched::handoff::take::TakeOutcome;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::takeable::Note;
use crate::sched::sysmon::memory::{Memory, QUESTIONS, Standard, Verdict};
use crate::sched::sysmon::pace::stall_limit;
use crate::sync::Arc;
use crate::task::StuckBy;

/// A poll that nothing waits for keeps its processor for so many thresholds. As long as it does,
/// sysmon looks at it, and after that nothing is left to look at.
const KEPT_FOR: u32 = 10;

impl Scheduler {
    /// Takes the processors of machines that are stuck. If timers, the network or new tasks wait,
    /// and no processor has had a turn for a part of the threshold, a machine that computes loses
    /// its processor after that part. One is enough for all that waits.
    #[doc(alias = "retake")]
    pub(super) fn take_from_stuck(self: &Arc<Self>, memory: &mut Memory, now: Instant) -> Found {
        let threshold = self.config.blocking_threshold;
        let any_is_needed = self.is_waited_for_by_all();
        let mut standard = Standard { threshold, questions: QUESTIONS };
        if any_is_needed && memory.count_held(stall_limit(threshold)) >= self.idle.unretired() {
            standard.threshold = stall_limit(threshold);
        }
        let mut found = Found::default();
        memory.rotate();
        for seen in &mut memory.seen {
            let began = Instant::now();
            let is_waited_for = any_is_needed || self.processors[seen.sighting.processor].has_work();
            let verdict = seen.judge(is_waited_for, &mut standard);
            found.cost += began.elapsed();
            found.has_sleeping |= verdict == Verdict::Asleep;
            let lasted = now.duration_since(seen.since);
            if lasted >= threshold
                && let Some(cause) = seen.cause_to_record(&verdict, threshold)
            {
                observe::on_long_poll(self, &seen.machine, seen.sighting.turn(), seen.since, cause);
            }
            let Verdict::Stuck(cause) = verdict else { continue };
            self.longest_poll.raise_to(lasted.as_nanos() as u64);
            let held = seen.held;
            let note = Note { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.since };
            match self.take_or_list(&note, is_waited_for, held) {
                TakeOutcome::Done if cause == StuckBy::Blocking => found.has_blocked = true,
                TakeOutcome::Done => standard.threshold = threshold,
                TakeOutcome::Refused => {
                    note.machine.ownership.mark(note.seen.turn());
                    found.refused = found.refused.or(Some(note));
                }
                _ => {}
            }
        }
        found
    }

    /// Takes the processor of a stuck machine if something waits for it. Otherwise a section loses
    /// it to the idle list, and a poll keeps it for a while, listed as takeable.
    pub(super) fn take_or_list(self: &Arc<Self>, note: &Note, is_waited_for: bool, held: Duration) -> TakeOutcome {
        if is_waited_for {
            return self.retake(note);
        }
        if note.seen.region.is_blocking() || held > self.config.blocking_threshold * KEPT_FOR {
            return self.stop_watching(note);
        }
        self.list(note);
        TakeOutcome::Stale
    }

    pub(super) fn list(self: &Arc<Self>, note: &Note) {
        self.takeable.add(note.clone());
        self.retake_for_visible_work();
    }

    /// The poll or section may last for hours, and may be the only thing that sysmon looks at.
    pub(super) fn stop_watching(self: &Arc<Self>, note: &Note) -> TakeOutcome {
        match self.take_to_idle(note) {
            TakeOutcome::Refused => {
                self.list(note);
                // A task that waits for a permit needs it more.
                if self.hogs.waiting() > 0 { TakeOutcome::Stale } else { TakeOutcome::Refused }
            }
            TakeOutcome::NoMachine if note.seen.region == Region::Poll => {
                self.list(note);
                TakeOutcome::Stale
            }
            _ => TakeOutcome::Stale,
        }
    }
}

/// The findings of a look.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// A processor was taken from a thread that sleeps.
    pub(super) has_blocked: bool,
    /// A thread sleeps, perhaps only for a moment.
    pub(super) has_sleeping: bool,
    /// A poll that computes and whose processor may not be taken yet.
    pub(super) refused: Option<Note>,
    /// The time that judging took, without the takes.
    pub(super) cost: Duration,
}
