//! Observation, behind one seam. The scheduler calls these functions where something happens, and
//! does not know the listeners:
//!
//! - the recorder (`trace`), which is told each [`Event`] while a runtime is recorded;
//! - histograms and hooks of polls (`metrics`, [`measure`]);
//! - the report of polls that hold their threads (`blocked`, [`report`]).
//!
//! Nothing here decides. A machine has one byte that says whether anybody listens
//! (`sched::state::unusual`), so a submission or a poll that nobody observes pays for the test that it
//! makes anyway.

mod block_on;
mod event;
mod local_set;
mod mark;
mod measure;
#[cfg(not(feature = "insight"))]
#[path = "no_recorder.rs"]
mod recorder;
#[cfg(feature = "insight")]
mod recorder;
mod report;
pub(crate) mod schedtrace;

use std::cell::Cell;
use std::time::Instant;

pub(crate) use self::block_on::{RootPolls, RootWaker, on_wait_elsewhere};
pub(crate) use self::event::{Event, RootName};
pub(crate) use self::local_set::{Driver, on_local_schedule};
pub use self::mark::mark;
pub(crate) use self::measure::Measured;
use self::recorder::{Owner, Recorded, tell, tell_outside};
pub(crate) use self::recorder::{Settings as RecorderSettings, record_until_written, start as start_recorder};
pub(crate) use self::report::{Usage, on_end_of_long_poll, on_hog_over, on_long_wait, on_look, on_seen};
pub(crate) use self::schedtrace::Schedtrace as SysmonObserver;
use crate::blocked::Blocked;
pub(crate) use crate::blocked::BlockedCause;
use crate::context;
use crate::metrics::Measuring;
use crate::sched::config::Config;
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::{ProcessorToken, Region};
use crate::sched::state::unusual::{MEASURES, RECORDS, STAMPS};
use crate::sched::{Local, Scheduler};
use crate::sync::Arc;
use crate::task::{Header, Id};

/// The observers of one runtime.
#[derive(Debug)]
pub(crate) struct Observers {
    pub(crate) measuring: Measuring,
    pub(crate) blocked: Blocked,
    pub(crate) recorded: Recorded,
}

/// What a machine keeps for the observers.
#[derive(Debug)]
pub(crate) struct Tap {
    recorder: recorder::Tap,
    /// The tasks submitted on this machine while latencies are measured.
    submissions: Cell<u32>,
}

impl Observers {
    pub(crate) fn new(config: &Config) -> Observers {
        Observers {
            measuring: Measuring::new(&config.histograms, config.task_hooks.is_some()),
            blocked: Blocked::new(config.blocked),
            recorded: Recorded::new(),
        }
    }

    /// Why each poll or submission of a machine takes its slow path.
    pub(crate) fn unusual(&self) -> u8 {
        let measures = if self.measuring.is_any() { MEASURES } else { 0 };
        let stamps = if self.measuring.first_number().is_some() { STAMPS } else { 0 };
        measures | stamps
    }
}

impl Tap {
    pub(crate) fn new(observers: &Observers) -> Tap {
        let first = observers.measuring.first_number().unwrap_or(0);
        Tap { recorder: Default::default(), submissions: Cell::new(first) }
    }
}

/// Something happens on this machine.
#[inline]
pub(crate) fn on(local: &Local, event: Event<'_>) {
    if local.unusual.is_any(RECORDS) {
        tell(&local.tap.recorder, event);
    }
}

/// Something happens on a thread that may be a machine of this scheduler.
fn on_this_thread(scheduler: &Arc<Scheduler>, event: Event<'_>) {
    with_tap_of(address(scheduler), |tap| match tap {
        Some(tap) => tell(tap, event),
        None => tell_outside(&scheduler.observers.recorded, event),
    });
}

/// Calls `f` with the tap of the machine that this thread is, if that is one of the scheduler at this
/// address and records.
fn with_tap_of(scheduler: usize, f: impl FnOnce(Option<&recorder::Tap>)) {
    context::with_machine(|local| {
        let local = local.filter(|local| address(&local.scheduler) == scheduler && local.unusual.is_any(RECORDS));
        f(local.map(|local| &local.tap.recorder));
    });
}

fn address(scheduler: &Arc<Scheduler>) -> usize {
    Arc::as_ptr(scheduler).addr()
}

/// The machine gets a processor.
#[inline]
pub(crate) fn on_acquire(local: &Local, index: usize) {
    notice(local);
    on(local, Event::Acquire(index));
}

/// The machine, which has this processor, looks at other queues than its own.
#[inline]
pub(crate) fn on_look_around(local: &Local, index: usize) {
    notice(local);
    on(local, Event::Queues(&local.scheduler, index));
}

/// Notices whether the runtime is recorded.
#[inline]
fn notice(local: &Local) {
    let owner = Owner::Machine(local.machine.id);
    if let Some(records) = local.tap.recorder.notice(&local.scheduler.observers.recorded, owner) {
        local.unusual.set(RECORDS, records);
    }
}

/// A task is queued on this machine.
pub(crate) fn on_schedule(local: &Local, task: &Header, yielded: bool) {
    on(local, Event::Schedule(task, yielded));
    if local.unusual.is_any(STAMPS) {
        let n = local.tap.submissions.get().wrapping_add(1);
        local.tap.submissions.set(n);
        measure::stamp(&local.scheduler.observers.measuring, task, n);
    }
}

/// The same on a thread without a processor. `n`: a number of the submission.
pub(crate) fn on_schedule_elsewhere(scheduler: &Arc<Scheduler>, task: &Header, n: u32) {
    measure::stamp(&scheduler.observers.measuring, task, n);
    if scheduler.observers.recorded.is_under_way() {
        on_this_thread(scheduler, Event::Schedule(task, false));
    }
}

/// A poll begins on a machine.
#[inline]
pub(crate) fn before_poll(local: &Local, task: &Header) -> Option<Measured> {
    let measured = local.unusual.is_any(MEASURES).then(|| measure::begin(local, task));
    on(local, Event::PollBegin(task, Some(&local.machine)));
    measured
}

#[inline]
pub(crate) fn after_poll(local: &Local, measured: Option<Measured>) {
    on(local, Event::PollEnd);
    if let Some(measured) = measured {
        measure::end(local, measured);
    }
}

/// The thread that drives a current-thread runtime polls the future given to `block_on`.
#[inline]
pub(crate) fn before_root_poll(local: &Local, root: RootName) {
    if local.scheduler.config.is_watched {
        local.machine.running.write_root(root.id, root.location);
    } else {
        local.machine.running.set_none();
    }
    on(local, Event::RootBegin(root, Some(&local.machine)));
}

#[inline]
pub(crate) fn after_root_poll(local: &Local, is_ready: bool) {
    on(local, Event::RootEnd(is_ready));
    if local.scheduler.config.is_watched {
        local.machine.running.end_root();
    }
}

/// This future is about to be woken. `is_woken`: whether it was woken already.
#[inline]
pub(crate) fn on_root_wake(scheduler: &Arc<Scheduler>, root: impl FnOnce() -> u64, is_woken: impl FnOnce() -> bool) {
    if scheduler.observers.recorded.is_under_way() && !is_woken() {
        on_this_thread(scheduler, Event::RootWake(root()));
    }
}

/// The machine, which returns its processor, is not used for a while, or never again.
pub(crate) fn on_leave(local: &Local, token: &ProcessorToken) {
    on(local, Event::Release(token));
    if local.unusual.is_any(RECORDS) {
        local.tap.recorder.leave_recording();
        local.unusual.set(RECORDS, false);
    }
}

/// The machine is about to poll a known hog, which sysmon does not look for.
#[inline]
pub(crate) fn on_hog(local: &Local, task: Id, since: Instant) {
    let (recorded, ownership) = (&local.scheduler.observers.recorded, &local.machine.ownership);
    if recorded.wants_stuck_polls() {
        recorder::tell_stuck(recorded, &local.machine, ownership.next_turn(), task, since);
    }
    on(local, Event::Search);
}

/// This processor was taken from the machine that is stuck.
pub(crate) fn on_take(scheduler: &Scheduler, index: usize, stuck: &Stuck) {
    tell_outside(&scheduler.observers.recorded, Event::Take(index, stuck));
    // Declared sections may block.
    if stuck.seen.region == Region::Poll {
        report::on_long_poll(scheduler, &stuck.machine, stuck.seen.turn(), stuck.since, stuck.cause.into());
    }
}

/// A task of the current runtime has panicked.
#[cold]
pub(crate) fn on_panic(task: Id) {
    let _ = context::with_scheduler(|scheduler| scheduler.observers.recorded.note_panic(task.as_u64()));
}

/// The runtime ends.
pub(crate) fn on_shutdown(observers: &Observers) {
    observers.blocked.stop();
    observers.recorded.note_end();
}

/// A thread of the pool, which runs closures.
#[derive(Debug, Default)]
pub(crate) struct PoolThread(recorder::Tap);

impl PoolThread {
    pub(crate) fn before_closure(&self, scheduler: &Scheduler, closure: &Header) {
        self.0.notice(&scheduler.observers.recorded, Owner::Closures);
        // The thread may have waited for the closure since the end of the latest.
        tell(&self.0, Event::Search);
        tell(&self.0, Event::PollBegin(closure, None));
    }

    pub(crate) fn after_closure(&self) {
        tell(&self.0, Event::PollEnd);
    }
}
