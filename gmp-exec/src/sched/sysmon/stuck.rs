//! Taking the processors of machines that are stuck, or listing them as takeable.

use std::time::{Duration, Instant};

use crate::observe;
use crate::sched::handoff::take::{TakeOutcome, take_within_limit};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::takeable::Note;
use crate::sched::sysmon::budget::Outcome;
use crate::sched::sysmon::memory::{Memory, QUESTIONS};
use crate::sched::sysmon::seen::{Standard, Verdict};
use crate::sched::sysmon::waiting;
use crate::sync::Arc;
use crate::task::StuckBy;

/// A poll that nothing waits for keeps its processor for so many thresholds. As long as it does,
/// sysmon looks at it, and after that nothing is left to look at.
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
) -> Option<Note> {
    let threshold = scheduler.config.blocking_threshold;
    let any_is_needed = waiting::is_waited_for_by_all(scheduler);
    let mut standard = Standard { threshold, configured: threshold, questions: QUESTIONS };
    let stall = threshold / 5;
    let held_up = memory.seen.iter().filter(|seen| seen.held >= stall).count();
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
        if lasted >= threshold
            && let Some(cause) = seen.cause_to_record(&verdict, threshold)
        {
            observe::on_long_poll(scheduler, &seen.machine, seen.sighting.turn(), seen.since, cause);
        }
        let Verdict::Stuck(cause) = verdict else { continue };
        scheduler.longest_poll.raise_to(lasted.as_nanos() as u64);
        if scheduler.config.is_watched {
            continue;
        }
        let note = Note { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.since };
        match take_or_list(scheduler, &note, is_waited_for, seen.held) {
            TakeOutcome::Done if cause == StuckBy::Blocking => outcome.has_found = true,
            TakeOutcome::Done => standard.threshold = threshold,
            TakeOutcome::Refused => {
                note.machine.ownership.mark(note.seen.turn());
                refused = refused.or(Some(note));
            }
            _ => {}
        }
    }
    refused
}

/// Takes the processor of a stuck machine if something waits for it. Otherwise the processor stays for
/// now, listed as takeable. A section loses it to the idle list, and a poll does after a while: the
/// poll or section may last for hours, and may be the only thing that sysmon looks at.
fn take_or_list(scheduler: &Arc<Scheduler>, note: &Note, is_waited_for: bool, held: Duration) -> TakeOutcome {
    if is_waited_for {
        return take_within_limit(scheduler, note);
    }
    let is_to_go = note.seen.region.is_blocking() || held > scheduler.config.blocking_threshold * KEPT_FOR;
    let outcome = is_to_go.then(|| take_within_limit(scheduler, note));
    if !matches!(outcome, Some(TakeOutcome::Done | TakeOutcome::Stale)) {
        scheduler.takeable.add(note.clone());
        waiting::take_for_visible_work(scheduler);
    }
    outcome.unwrap_or(TakeOutcome::Stale)
}
