//! Taking the processors of machines that are stuck.

use std::time::Instant;

use crate::observe;
use crate::sched::handoff::take::take;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::machine::stuck::Stuck;
use crate::sched::sysmon::memory::{Memory, QUESTIONS};
use crate::sched::sysmon::pace::Outcome;
use crate::sched::sysmon::seen::{Standard, Verdict};
use crate::sched::sysmon::waiting;
use crate::sync::Arc;
use crate::task::StuckBy;

/// A poll that nothing waits for keeps its processor for so many thresholds.
const KEPT_FOR: u32 = 10;

/// Takes the processors of machines that are stuck, unless they are only watched. If timers, the
/// network or new tasks wait, and no processor has had a turn for a part of the threshold, a machine
/// that computes loses its processor after that part. One is enough for all that waits. Returns a
/// poll that computes and whose processor may not be taken yet.
#[doc(alias = "retake")]
pub(super) fn take_all(
    scheduler: &Arc<Scheduler>,
    memory: &mut Memory,
    outcome: &mut Outcome,
    now: Instant,
) -> Option<Stuck> {
    let threshold = scheduler.config.blocking_threshold;
    let any_is_needed = waiting::is_waited_for_by_all(scheduler);
    let mut standard = Standard { threshold, configured: threshold, questions: QUESTIONS };
    let stall = threshold / 5;
    let held_up = memory.seen.iter().filter(|seen| seen.usage.held >= stall).count();
    if any_is_needed && held_up >= scheduler.idle.unretired() {
        standard.threshold = stall;
    }
    let mut refused = None;
    memory.rotate();
    for seen in &mut memory.seen {
        let is_waited_for = any_is_needed || scheduler.processors[seen.sighting.processor].has_work();
        let verdict = seen.judge(is_waited_for, &mut standard);
        outcome.has_sleeping |= verdict == Verdict::Asleep;
        let lasted = now.duration_since(seen.since);
        let stuck = if let Verdict::Stuck(cause) = verdict { Some(cause) } else { None };
        // Declared sections may block.
        if lasted >= threshold
            && verdict != Verdict::Asleep
            && seen.sighting.region == Region::Poll
            && let Some(cause) = seen.usage.news(stuck, threshold, &mut seen.reported)
        {
            observe::on_long_poll(scheduler, &seen.machine, seen.sighting.turn(), seen.since, cause);
        }
        let Some(cause) = stuck else { continue };
        scheduler.longest_poll.raise_to(lasted.as_nanos() as u64);
        if scheduler.config.is_watched {
            continue;
        }
        // If nothing waits for the processor, a section loses it, and so does a poll after a while: either
        // may last for hours, and may be the only thing that sysmon looks at.
        if !is_waited_for && seen.sighting.region == Region::Poll && seen.usage.held < threshold * KEPT_FOR {
            continue;
        }
        let stuck = Stuck { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.since };
        if cause == StuckBy::Computing && scheduler.hogs.is_exhausted() {
            refused = refused.or(Some(stuck));
            continue;
        }
        if !take(scheduler, &stuck) {
            continue;
        }
        if stuck.seen.region == Region::Poll {
            memory.long_polls.taken = Some(now);
        }
        match cause {
            StuckBy::Blocking => outcome.has_found = true,
            StuckBy::Computing => standard.threshold = threshold,
        }
    }
    refused
}
