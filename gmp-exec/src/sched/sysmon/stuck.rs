//! Taking the processors of machines that are stuck, and polls that compute beyond `max_hogs`: one more
//! every few milliseconds.
//!
//! `max_hogs` keeps a crowd of computing threads from taking each other's cores. As a strict limit
//! it would stop everything:
//!
//! - Once all permits are held, a processor stays with its machine while that computes. As many
//!   long polls as there are permits and processors stop timers, the network and all other tasks.
//! - The short poll of a known hog waits for polls of several seconds.
//! - Hogs that sleep until a waiting hog has run wait for it without end.
//!
//! So while a processor is refused, or a task waits for a permit, sysmon lets one more of each compute
//! after a while. The more polls compute beyond the limit, the longer sysmon waits: a crowd of
//! polls of 20 ms stays near `max_hogs`, because as many end as are let in, and a few polls of
//! several seconds do not stop anything for much longer than the `blocking_threshold`.
//!
//! Rejected: no extra permits: a poll that computed was never let in; lower kernel priorities (they
//! can't be raised again, and a hog may hold a lock).

use std::time::Instant;

use crate::observe;
use crate::sched::handoff::take::take;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::Region;
use crate::sched::submit::wake::submit_permitted;
use crate::sched::sysmon::pace::Outcome;
use crate::sched::sysmon::seen::{Memory, Seen, Standard, Verdict};
use crate::sched::sysmon::sleep;
use crate::sync::Arc;
use crate::task::StuckBy;

/// A poll that nothing waits for keeps its processor for so many thresholds.
const KEPT_FOR: u32 = 10;
/// How long sysmon waits between two extra polls, in sixths of the threshold, by how many there are
/// already. All polls that compute share the cores, so the first extra poll ends late, and until
/// then sysmon would let in more and more. If all processors are held up, this is also how long
/// other tasks wait for a processor, so the first waits are short.
const WAITS: [u32; 8] = [2, 5, 9, 12, 18, 24, 30, 36];

/// Takes the processors of machines that are stuck, unless they are only watched. Also returns a poll
/// that computes and whose processor may not be taken yet.
#[doc(alias = "retake")]
pub(super) fn take_all(scheduler: &Arc<Scheduler>, memory: &mut Memory, now: Instant) -> (Outcome, Option<Stuck>) {
    let mut outcome = Outcome { was_called: std::mem::take(&mut memory.was_called), ..Outcome::default() };
    let any_is_needed = sleep::is_waited_for_by_all(scheduler);
    let mut standard = standard(scheduler, memory, any_is_needed);
    let mut refused = None;
    for seen in &mut memory.seen {
        let is_waited_for = any_is_needed || scheduler.processors[seen.sighting.processor].has_work();
        let verdict = seen.judge(is_waited_for, &standard);
        outcome.has_sleeping |= verdict == Verdict::Asleep;
        report(scheduler, seen, verdict, now);
        let Verdict::Stuck(cause) = verdict else { continue };
        if scheduler.config.is_watched || !is_waited_for && seen.may_keep_processor(standard.configured * KEPT_FOR) {
            continue;
        }
        let stuck = Stuck { machine: seen.machine.clone(), seen: seen.sighting, cause, since: seen.usage.since };
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
            // One processor is enough for all that waits.
            StuckBy::Computing => standard.threshold = standard.configured,
        }
    }
    (outcome, refused)
}

/// If timers, the network or new tasks wait, and no processor has had a turn for a part of the
/// threshold, a machine that computes loses its processor after that part.
fn standard(scheduler: &Scheduler, memory: &Memory, any_is_needed: bool) -> Standard {
    let configured = scheduler.config.blocking_threshold;
    let stall = configured / 5;
    let held_up = memory.seen.iter().filter(|seen| seen.usage.held >= stall).count();
    let is_stall = any_is_needed && held_up >= scheduler.idle.unretired();
    Standard { threshold: if is_stall { stall } else { configured }, configured }
}

fn report(scheduler: &Scheduler, seen: &mut Seen, verdict: Verdict, now: Instant) {
    let stuck = match verdict {
        Verdict::Asleep => return,
        Verdict::Fine => None,
        Verdict::Stuck(cause) => Some(cause),
    };
    observe::on_seen(scheduler, &seen.machine, seen.sighting, &mut seen.usage, stuck, now);
    if stuck.is_some() {
        scheduler.longest_poll.raise_to(now.duration_since(seen.usage.since).as_nanos() as u64);
    }
}

/// Lets one more hog that waits compute, and one more poll go on without a processor, if it is time.
/// `refused`: a poll whose processor may not be taken yet.
pub(super) fn let_in(scheduler: &Arc<Scheduler>, memory: &mut Memory, refused: Option<&Stuck>, now: Instant) {
    if refused.is_none() && scheduler.hogs.waiting() == 0 {
        memory.let_in = None;
        return;
    }
    let since = *memory.let_in.get_or_insert(now);
    let unit = (scheduler.idle.active() / 2).max(1);
    let wait = scheduler.config.blocking_threshold * WAITS[(scheduler.hogs.excess() / unit).min(WAITS.len() - 1)] / 6;
    if now.duration_since(since) >= wait {
        memory.let_in = Some(now);
        scheduler.hogs.grant_extra().into_iter().for_each(|task| submit_permitted(scheduler, task));
        if refused.is_some_and(|stuck| take(scheduler, stuck)) {
            memory.long_polls.taken = Some(now);
        }
    }
}
