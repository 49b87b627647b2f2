//! What the scheduler says of polls that hold their threads, for `Handle::blocked_report`, and the
//! thread that makes the report.

use std::time::{Duration, Instant};

use super::recorder::{tell_outside, tell_stuck};
use super::{BlockedCause, Event};
use crate::blocked::{Begun, Ended, Record, Sight, Told, describe_waited_for};
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sched::state::machine::running::Running;
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::say_no_thread;
use crate::sched::{Local, Scheduler};
use crate::sync::Arc;
use crate::sys::stderr;
use crate::task::{StuckBy, name_of};

/// How a poll has used its time so far, as sysmon has seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// When it was seen for the first time.
    pub(crate) since: Instant,
    /// The cause that was reported for the poll.
    pub(crate) reported: Option<BlockedCause>,
    /// The time between looks.
    pub(crate) held: Duration,
    /// How far the CPU clock of the thread has advanced.
    pub(crate) used: Duration,
    /// The time for which the thread was probably runnable and had no core.
    pub(crate) starved: Duration,
}

impl Usage {
    pub(crate) fn new(since: Instant) -> Usage {
        Usage { since, reported: None, held: Duration::ZERO, used: Duration::ZERO, starved: Duration::ZERO }
    }

    /// What the report says of a poll that has lasted for `threshold`. `stuck`: sysmon's verdict. `None`:
    /// nothing that is certain. With a part of a core, sysmon takes the processor, but it may yet turn
    /// out that there was no core for the thread.
    fn cause(self, stuck: Option<StuckBy>, threshold: Duration) -> Option<BlockedCause> {
        let has_computed = self.used >= threshold;
        let is_starved = self.held >= threshold && self.starved * 2 >= self.held && !has_computed;
        match stuck {
            Some(StuckBy::Blocking) => Some(BlockedCause::Blocked),
            _ if is_starved => Some(BlockedCause::Starved),
            Some(StuckBy::Computing) if has_computed || self.used * 2 >= self.held => Some(BlockedCause::Computing),
            _ => None,
        }
    }
}

/// sysmon has looked at a poll or a section, which has not only fallen asleep a moment ago. Reports a poll
/// that has lasted for as long as the threshold, unless that was reported. Declared sections may block.
pub(crate) fn on_seen(
    scheduler: &Scheduler,
    machine: &Arc<Machine>,
    seen: Sighting,
    usage: &mut Usage,
    stuck: Option<StuckBy>,
    now: Instant,
) {
    let threshold = scheduler.config.blocking_threshold;
    if seen.region != Region::Poll || now.duration_since(usage.since) < threshold {
        return;
    }
    let Some(cause) = usage.cause(stuck, threshold) else { return };
    if matches!(usage.reported, None | Some(BlockedCause::Starved)) && usage.reported != Some(cause) {
        usage.reported = Some(cause);
        on_long_poll(scheduler, machine, seen.turn(), usage.since, cause);
    }
}

/// A poll has lasted for as long as the threshold, has lost its processor, or does something else
/// since then than it did before.
pub(super) fn on_long_poll(of: &Scheduler, machine: &Arc<Machine>, turn: u64, since: Instant, cause: BlockedCause) {
    // `None`: the poll is over, or was not stuck.
    if let Some(running) = machine.running_in(turn) {
        of.observers.blocked.record(Record::Begun(begun(machine, turn, running, since, cause)));
    }
}

/// sysmon no longer sees a poll that was reported, or a machine that has lost its processor returns
/// from one.
#[cold]
pub(crate) fn on_end_of_long_poll(scheduler: &Scheduler, machine: &Arc<Machine>, turn: u64) {
    scheduler.observers.blocked.record(Record::Ended(Ended::now(machine, turn)));
}

/// A known hog has held its thread since then. It had no processor, so sysmon has not seen it.
pub(crate) fn on_hog_over(local: &Local, since: Instant, cause: BlockedCause) {
    let machine = &local.machine;
    if let Some(running) = machine.running.read() {
        let begun = begun(machine, machine.ownership.turn(), running, since, cause);
        local.scheduler.observers.blocked.record(Record::Whole(begun, Instant::now()));
    }
}

fn begun(machine: &Arc<Machine>, turn: u64, running: Running, since: Instant, cause: BlockedCause) -> Begun {
    let Running { task, location, is_root, .. } = running;
    Begun { machine: machine.clone(), turn, task, name: name_of(task), location, is_root, cause, since }
}

/// sysmon has looked at everything. Starts the report thread, if there is something to report for the
/// first time. If the system has no thread to give, the next look tries again.
pub(crate) fn on_look(scheduler: &Arc<Scheduler>) {
    let blocked = &scheduler.observers.blocked;
    if !blocked.is_thread_wanted() {
        return;
    }
    let of_thread = scheduler.clone();
    let body = move || of_thread.observers.blocked.run_thread(&TellRecorder(of_thread.clone()));
    let threads = scheduler.config.threads.with_usual_stack();
    let start = || scheduler.all_machines.start(&threads, "gmp-report".to_owned(), Machine::new(0), body);
    match check_head_room(scheduler).and_then(|()| start()) {
        Ok(()) => blocked.thread_started(),
        Err(error) => say_no_thread(scheduler, &error),
    }
}

/// Tells the recorder what the report thread knows.
struct TellRecorder(Arc<Scheduler>);

impl Told for TellRecorder {
    fn wants_looks(&self) -> bool {
        self.0.observers.recorded.wants_stuck_polls()
    }

    /// A file that is written because of the poll has what was seen.
    fn stuck(&self, begun: &Begun, sight: Option<Sight>) {
        let recorded = &self.0.observers.recorded;
        if let Some(sight) = sight {
            tell_outside(recorded, Event::Sight(begun.task, &sight));
        }
        tell_stuck(recorded, &begun.machine, begun.turn, begun.task, begun.since);
    }
}

/// The drop of a runtime has waited for these machines for so long. It may be one of their tasks that
/// holds the lock of standard error, or whose reader has stopped reading.
#[cold]
pub(crate) fn on_long_wait(awaited: &[Arc<Machine>], waited: Duration) {
    if !awaited.is_empty() {
        let what = describe_waited_for(awaited);
        stderr::try_write(&format!("gmp: the drop of a runtime has waited for {} s: {what}\n", waited.as_secs()));
    }
}
