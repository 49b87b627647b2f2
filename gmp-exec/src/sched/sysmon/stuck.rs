//! Taking the processors of machines that are stuck, or listing them as takeable.

use std::time::{Duration, Instant};

use crate::sched::handoff::take::{Limit, TakeOutcome, To, take};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::takeable::Note;
use crate::sched::sysmon::memory::{Memory, QUESTIONS, Seen, Standard, Verdict};
use crate::sched::sysmon::pace::stall_limit;
use crate::sched::sysmon::waiting;
use crate::sync::Arc;
use crate::task::StuckBy;

/// A poll that nothing waits for keeps its processor for so many thresholds. As long as it does,
/// sysmon looks at it, and after that nothing is left to look at.
const KEPT_FOR: u32 = 10;

/// Takes the processors of machines that are stuck. If timers, the network or new tasks wait,
/// and no processor has had a turn for a part of the threshold, a machine that computes loses
/// its processor after that part. One is enough for all that waits.
#[doc(alias = "retake")]
pub(super) fn take_from_stuck(scheduler: &Arc<Scheduler>, memory: &mut Memory, now: Instant) -> Found {
    let threshold = scheduler.config.blocking_threshold;
    let any_is_needed = waiting::is_waited_for_by_all(scheduler);
    let mut standard = Standard { threshold, questions: QUESTIONS };
    if any_is_needed && memory.count_held(stall_limit(threshold)) >= scheduler.idle.unretired() {
        standard.threshold = stall_limit(threshold);
    }
    let mut found = Found::default();
    memory.rotate();
    for seen in &mut memory.seen {
        let is_waited_for = any_is_needed || scheduler.processors[seen.sighting.processor].has_work();
        let verdict = seen.judge(is_waited_for, &mut standard);
        found.has_sleeping |= verdict == Verdict::Asleep;
        let lasted = record_if_long(scheduler, seen, &verdict, now);
        let Verdict::Stuck(cause) = verdict else { continue };
        scheduler.longest_poll.raise_to(lasted.as_nanos() as u64);
        let held = seen.held;
        let note = Note { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.since };
        match take_or_list(scheduler, &note, is_waited_for, held) {
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

/// A look that takes nothing: the only processor stays with the thread that drives the runtime.
pub(super) fn report(scheduler: &Scheduler, memory: &mut Memory, now: Instant) {
    let mut standard = Standard { threshold: scheduler.config.blocking_threshold, questions: QUESTIONS };
    for seen in &mut memory.seen {
        let verdict = seen.judge(false, &mut standard);
        record_if_long(scheduler, seen, &verdict, now);
    }
}

/// Returns how long the poll has lasted.
fn record_if_long(scheduler: &Scheduler, seen: &mut Seen, verdict: &Verdict, now: Instant) -> Duration {
    let (lasted, threshold) = (now.duration_since(seen.since), scheduler.config.blocking_threshold);
    if lasted >= threshold
        && let Some(cause) = seen.cause_to_record(verdict, threshold)
    {
        scheduler.record_long(&seen.machine, seen.sighting, seen.since, cause);
    }
    lasted
}

/// Takes the processor of a stuck machine if something waits for it. Otherwise a section loses
/// it to the idle list, and a poll keeps it for a while, listed as takeable.
pub(super) fn take_or_list(
    scheduler: &Arc<Scheduler>,
    note: &Note,
    is_waited_for: bool,
    held: Duration,
) -> TakeOutcome {
    if is_waited_for {
        return take(scheduler, note, Limit::MaxHogs, To::Machine);
    }
    if note.seen.region.is_blocking() || held > scheduler.config.blocking_threshold * KEPT_FOR {
        return stop_watching(scheduler, note);
    }
    list(scheduler, note);
    TakeOutcome::Stale
}

pub(super) fn list(scheduler: &Arc<Scheduler>, note: &Note) {
    scheduler.takeable.add(note.clone());
    waiting::take_for_visible_work(scheduler);
}

/// The poll or section may last for hours, and may be the only thing that sysmon looks at.
pub(super) fn stop_watching(scheduler: &Arc<Scheduler>, note: &Note) -> TakeOutcome {
    match take(scheduler, note, Limit::MaxHogs, To::Idle) {
        TakeOutcome::Done => {
            scheduler.takeable.remove(&note.machine);
            TakeOutcome::Stale
        }
        TakeOutcome::Refused => {
            list(scheduler, note);
            // A task that waits for a permit needs it more.
            if scheduler.hogs.waiting() > 0 { TakeOutcome::Stale } else { TakeOutcome::Refused }
        }
        TakeOutcome::NoMachine if note.seen.region == Region::Poll => {
            list(scheduler, note);
            TakeOutcome::Stale
        }
        _ => TakeOutcome::Stale,
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
}
