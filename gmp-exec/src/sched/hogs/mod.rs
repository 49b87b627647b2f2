//! Hogs: tasks that are known to hold their thread. The machine hands off its processor before it
//! polls a hog.
//!
//! Only sysmon finds the first long poll of a task. From then on the task's polls run on a machine
//! without a processor, until several in a row were short (measured with eight sleeping hogs:
//! longest gap 0.7 ms instead of 13). A hog that sleeps in the kernel costs a thread and nothing
//! else. Hogs that compute compete for the cores, so only `max_hogs` of those run at a time, each
//! with a permit. The others wait, and a machine that has finished one goes straight on with the
//! next: known hogs never need a processor.
//!
//! `max_hogs` limits a crowd, not every single hog. A waiting hog may have a short poll to do, a
//! lock to release, or the work that all others wait for, so sysmon lets in one more every few
//! milliseconds although all permits are held (`sysmon::stuck`).
//!
//! A poll that loses its processor while it computes gets a permit, too, which its machine releases
//! after the poll. Permits do not follow what a thread does later in the same poll. When the poll is
//! over it is judged anew: its thread may have slept first and computed afterwards, and the poll of a
//! known hog may have slept.

pub(in crate::sched) mod time_slice;

use std::time::{Duration, Instant};

use crate::context;
use crate::observe::{self, BlockedCause, Event};
use crate::sched::handoff;
use crate::sched::local::{HogPoll, Local};
use crate::sched::run::poll::{poll, poll_observed};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::permits::Acquired;
use crate::sched::state::unusual::{AT_END, CROWDED, HOG, MEASURES, RECORDS};
use crate::sched::submit::wake::submit_global;
use crate::sync::Arc;
use crate::sys::time_slice::TimeSlice;
use crate::task::{Header, Runnable, StuckBy};

/// A known hog's poll that is shorter than this counts as short.
const SHORT: Duration = Duration::from_millis(1);

/// Polls a known hog. The machine hands off its processor first, if another machine is available.
pub(in crate::sched) fn execute(local: &Local, task: Runnable, cause: StuckBy) {
    if task.metadata().take_permit() {
        return run_with_permit(local, task);
    }
    if cause == StuckBy::Blocking {
        return without_processor(local, task);
    }
    match local.scheduler.hogs.acquire(task) {
        Acquired::Granted(task) => run_with_permit(local, task),
        Acquired::Queued => {}
        Acquired::Refused(task) => crate::task::cancel(task),
    }
}

/// The machine is about to poll a task, and there are suspects. Marks the task as a hog if it is
/// one of them.
pub(in crate::sched) fn mark_suspect(local: &Local, task: &Header) {
    let scheduler = &local.scheduler;
    let is_crowded = scheduler.suspects.is_any() && scheduler.hogs.is_exhausted();
    local.unusual.set(CROWDED, is_crowded);
    if is_crowded && !task.is_listed() && scheduler.suspects.contains(task.location) {
        task.mark_suspect();
    }
}

/// Runs a hog that has a permit, then each hog that gets the permit next, until none waits.
fn run_with_permit(local: &Local, task: Runnable) {
    time_slice::set(&local.scheduler, &local.machine, TimeSlice::Long);
    let mut next = Some(task);
    while let Some(task) = next {
        without_processor(local, task);
        next = local.scheduler.hogs.release_to_next();
    }
    time_slice::set(&local.scheduler, &local.machine, TimeSlice::Short);
}

fn without_processor(local: &Local, task: Runnable) {
    handoff::hand_off(local);
    let header = task.metadata();
    local.unusual.set(HOG, true);
    let at = Instant::now();
    local.hog.set(Some(HogPoll {
        at,
        runnable: local.machine.runnable_time(),
        first_of: (!header.is_listed()).then_some(header.location),
    }));
    observe::on_hog(local, header.id, at);
    if local.unusual.is_any(MEASURES | RECORDS) {
        poll_observed(local, task);
    } else {
        poll(local, task, Region::Poll);
    }
    local.unusual.set(HOG, false);
    if let Some(hog) = local.hog.take() {
        report(local, &hog);
    }
}

/// A poll ends and the task waits: records whether the task has held its thread for too long.
#[inline]
pub(crate) fn note_end_of_poll(header: &Header) {
    context::with_machine(|local| {
        let Some(local) = local else { return observe::on_wait_elsewhere(header) };
        let is_lost = local.machine.ownership.is_claimed() || local.lost_by.get().is_some();
        if is_lost || local.unusual.is_any(AT_END) {
            end_unusual(local, header, is_lost);
        }
    });
}

/// While the runtime is recorded, most polls end here only for that reason.
#[cold]
fn end_unusual(local: &Local, header: &Header, is_lost: bool) {
    observe::on(local, Event::Wait(header));
    if is_lost || local.hog.get().is_some() {
        // The poll has lost its processor, or had none.
        match verdict(local) {
            Some(cause) => header.mark_hog(cause),
            None => header.note_short_poll(),
        }
        local.unusual.set(CROWDED, local.scheduler.suspects.is_any());
    }
}

/// `None`: the poll did not hold up its thread.
fn verdict(local: &Local) -> Option<StuckBy> {
    let threshold = local.scheduler.config.blocking_threshold;
    if let Some(loss) = local.loss() {
        let elapsed = Duration::from_nanos(local.scheduler.clock.running_ns().saturating_sub(loss.at));
        let runnable = local.machine.runnable_time().total().saturating_sub(loss.runnable);
        let since = Span { elapsed, runnable, waiting: Duration::ZERO };
        return Some(if loss.cause == StuckBy::Computing { StuckBy::Computing } else { since.cause(threshold) });
    }
    Some(judge(local, &local.hog.get()?)?.cause(threshold))
}

/// What a known hog's poll has done until now; `None`: it was harmless.
fn judge(local: &Local, poll: &HogPoll) -> Option<Span> {
    let elapsed = poll.at.elapsed();
    if elapsed < SHORT {
        return None;
    }
    let runnable = local.machine.runnable_time().since(poll.runnable);
    let whole = Span { elapsed, runnable: runnable.total(), waiting: runnable.waiting };
    (!whole.is_harmless(local.scheduler.config.blocking_threshold)).then_some(whole)
}

/// A known hog's poll is over. The models have no clock that could tell whether it was long.
fn report(local: &Local, poll: &HogPoll) {
    if cfg!(any(loom, shuttle)) {
        return;
    }
    match (judge(local, poll), poll.first_of) {
        (Some(span), _) => {
            observe::on_hog_over(local, poll.at, span.reported(local.scheduler.config.blocking_threshold));
        }
        (None, Some(location)) => local.scheduler.suspects.clear(location),
        (None, None) => {}
    }
}

/// How long a thread was observed, and how long it was runnable in that time.
#[derive(Clone, Copy)]
struct Span {
    elapsed: Duration,
    runnable: Duration,
    /// How long it was runnable and had no core; zero if that is not asked for.
    waiting: Duration,
}

impl Span {
    /// Whether the poll would have kept its processor.
    fn is_harmless(self, threshold: Duration) -> bool {
        self.runnable < threshold && self.elapsed.saturating_sub(self.runnable) < SHORT
    }

    /// Computing: the thread was runnable for as long as a poll may be, and for more than a small
    /// part of the time. On a crowded computer it may have had little of a core, and while the
    /// process is stopped the thread is not runnable.
    fn cause(self, threshold: Duration) -> StuckBy {
        let computed = self.runnable >= threshold && self.runnable > self.elapsed / 5;
        if computed { StuckBy::Computing } else { StuckBy::Blocking }
    }

    /// What the report says. Starved: with a core at all times the poll would have been harmless, or it has
    /// waited for one for most of its time and has not computed for long. A thread that has slept and then waits
    /// for a core is runnable, and does not compute.
    fn reported(self, threshold: Duration) -> BlockedCause {
        let without = Span {
            elapsed: self.elapsed.saturating_sub(self.waiting),
            runnable: self.runnable.saturating_sub(self.waiting),
            ..self
        };
        let is_starved = self.waiting * 2 >= self.elapsed && without.runnable < threshold;
        match is_starved || without.is_harmless(threshold) {
            true => BlockedCause::Starved,
            false => without.cause(threshold).into(),
        }
    }
}

/// A task that may wait for a permit was aborted. Its future is to be dropped, which needs no
/// permit.
pub(crate) fn submit_aborted(scheduler: &Arc<Scheduler>) {
    let aborted = scheduler.hogs.take_aborted();
    if !aborted.is_empty() {
        submit_global(scheduler, aborted);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Milliseconds.
    fn span(elapsed: u64, runnable: u64) -> Span {
        starved_span(elapsed, runnable, 0)
    }

    fn starved_span(elapsed: u64, runnable: u64, waiting: u64) -> Span {
        let [elapsed, runnable, waiting] = [elapsed, runnable, waiting].map(Duration::from_millis);
        Span { elapsed, runnable, waiting }
    }

    const THRESHOLD: Duration = Duration::from_millis(10);

    #[test]
    fn a_poll_that_hardly_slept_and_was_soon_over_is_harmless() {
        assert!(span(5, 5).is_harmless(THRESHOLD));
        assert!(!span(5, 3).is_harmless(THRESHOLD), "it slept for 2 ms");
        assert!(!span(10, 10).is_harmless(THRESHOLD), "it computed for as long as the threshold");
    }

    #[test]
    fn the_time_without_a_core_is_neither_sleep_nor_work() {
        let reported = |elapsed, runnable, waiting| starved_span(elapsed, runnable, waiting).reported(THRESHOLD);
        assert_eq!(reported(100, 100, 95), BlockedCause::Starved);
        assert_eq!(reported(100, 100, 85), BlockedCause::Computing, "it computed for 15 ms");
        assert_eq!(reported(100, 97, 95), BlockedCause::Starved, "it slept for 3 ms, and computed for 2 ms");
        assert_eq!(reported(80, 20, 20), BlockedCause::Blocked, "it slept for 60 ms, and then had no core");
        assert_eq!(reported(70, 20, 5), BlockedCause::Computing, "it slept for 50 ms, and computed for 15 ms");
        assert_eq!(reported(100, 5, 3), BlockedCause::Blocked);
        assert_eq!(reported(20, 20, 0), BlockedCause::Computing);
    }

    #[test]
    fn a_hog_that_computes_on_a_crowded_or_stopped_computer_still_computes() {
        assert_eq!(span(20, 20).cause(THRESHOLD), StuckBy::Computing);
        assert_eq!(span(50, 20).cause(THRESHOLD), StuckBy::Computing, "stopped for 30 ms");
        assert_eq!(span(3_000, 300).cause(THRESHOLD), StuckBy::Blocking, "computes 1 of 10 ms");
        assert_eq!(span(50, 5).cause(THRESHOLD), StuckBy::Blocking);
    }
}
