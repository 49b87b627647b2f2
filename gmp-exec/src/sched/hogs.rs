//! Tasks that are known to hold on to their thread: the processor goes on before they start.
//!
//! Only sysmon finds the first offence of a task. From then on its polls run on a machine without a processor, until several
//! in a row were short (measured with eight sleeping hogs: longest gap 0.7 ms instead of 13). A task that sleeps in the kernel
//! costs a thread and nothing else. Tasks that compute compete for the cores, so only `max_hogs` of those run at a time; the
//! others wait in line, and a machine that has finished one goes straight on with the next: known hogs never need a
//! processor.
//!
//! `max_hogs` is a limit for many, not for each. What waits for it may be a short poll, an unlocking, or what all others wait
//! for, so sysmon lets one more in every few milliseconds although all places are taken (`sysmon::excess`).
//!
//! What a poll has done is judged when it is over: a poll that was taken for blocked may have computed afterwards, and a known
//! hog may have slept.

use super::admission::Admitted;
use super::handoff;
use super::machine::Local;
use super::ownership::Region;
use super::run;
use super::scheduler::Scheduler;
use crate::sync::Arc;
use crate::task::{Header, Offence, Runnable};
use std::time::{Duration, Instant};

/// A known hog's poll that is shorter than this counts in its favour.
const SHORT: Duration = Duration::from_millis(1);

/// How the poll of a known hog began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HogPoll {
    at: Instant,
    /// How long its thread had been runnable.
    runnable: Duration,
}

/// Polls a known hog. The machine gives its processor on first, if another machine can be had for it.
pub(super) fn execute(local: &Local, task: Runnable, offence: Offence) {
    if task.metadata().take_admission() {
        return burn(local, task);
    }
    if offence == Offence::Blocked {
        return without_processor(local, task);
    }
    match local.scheduler.hogs.admit(task) {
        Admitted::Now(task) => burn(local, task),
        Admitted::Later => {}
        Admitted::Never(task) => crate::task::cancel(task),
    }
}

/// The poll of a task that was not known has ended, after its processor was taken while it was computing.
pub(super) fn finish_unknown(local: &Local) {
    if let Some(task) = local.scheduler.hogs.pass_on() {
        burn(local, task);
    }
}

/// Runs hogs that have a place, one after the other until none waits for the last one's.
fn burn(local: &Local, task: Runnable) {
    let mut next = Some(task);
    while let Some(task) = next {
        without_processor(local, task);
        next = local.scheduler.hogs.pass_on();
    }
}

fn without_processor(local: &Local, task: Runnable) {
    handoff::give_on(local);
    local.hog.set(Some(HogPoll { at: Instant::now(), runnable: local.machine.runnable_for() }));
    run::poll(local, task, Region::Poll);
    local.hog.set(None);
}

/// A poll that has lost its processor, or had none, or should have lost it, ends with the task waiting.
#[cold]
pub(crate) fn learn(local: &Local, header: &Header) {
    let is_marked = local.machine.ownership.take_mark();
    let verdict = match (local.loss(), local.hog.get()) {
        _ if is_marked => Some(Offence::Burning),
        (Some(loss), _) if loss.offence == Offence::Burning => Some(Offence::Burning),
        (Some(loss), _) => {
            let elapsed = local.scheduler.clock.running_ns().saturating_sub(loss.at);
            Some(judge(local, loss.runnable, Duration::from_nanos(elapsed)))
        }
        (None, Some(poll)) if poll.at.elapsed() < SHORT => None,
        (None, Some(poll)) => Some(judge(local, poll.runnable, poll.at.elapsed())),
        (None, None) => return,
    };
    match verdict {
        Some(offence) => header.remember(offence),
        None => header.note_short_poll(),
    }
}

/// Computed: was runnable for as long as a poll may be, and for more than a small part of its time. On a crowded machine it may
/// have had little of a core, and a process that is stopped in between is not runnable then.
fn judge(local: &Local, runnable: Duration, elapsed: Duration) -> Offence {
    let runnable = local.machine.runnable_for().saturating_sub(runnable);
    let computed = runnable >= local.scheduler.config.blocking_threshold && runnable > elapsed / 5;
    if computed { Offence::Burning } else { Offence::Blocked }
}

impl Scheduler {
    /// A place was taken for a poll whose processor then was not to be had.
    pub(super) fn give_hog_place_up(self: &Arc<Self>) {
        if let Some(task) = self.hogs.pass_on() {
            self.submit_admitted(task);
        }
    }

    /// Lets the hog in that has waited longest, although all places are taken. `false`: none waits.
    pub(super) fn let_hog_over(self: &Arc<Self>) -> bool {
        let next = self.hogs.let_over();
        let is_any = next.is_some();
        next.into_iter().for_each(|task| self.submit_admitted(task));
        is_any
    }

    /// Queues a task that has got a place in line.
    pub(super) fn submit_admitted(self: &Arc<Self>, task: Runnable) {
        task.metadata().admit();
        self.submit_global([task]);
    }

    /// Somebody has aborted a task that may wait in line: its future is to be dropped, for which it needs no place.
    pub(crate) fn let_aborted_hogs_out(self: &Arc<Self>) {
        let aborted = self.hogs.take_aborted();
        if !aborted.is_empty() {
            self.submit_global(aborted);
        }
    }
}
