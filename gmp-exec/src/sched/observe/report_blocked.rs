//! What the scheduler says of polls that hold their threads, for `Handle::blocked_report`.

use std::time::Instant;

use crate::blocked::{Begun, BlockedCause, Ended};
use crate::sched::local::Local;
use crate::sched::observe::record::TellRecorder;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sched::state::machine::running::Running;
use crate::sched::state::takeable::Note;
use crate::sched::submit::head_room::check_head_room;
use crate::sched::submit::threads::say_no_thread;
use crate::sync::Arc;
use crate::task::{StuckBy, name_of};

impl Scheduler {
    /// A machine has lost its processor. Declared sections may block.
    pub(in crate::sched) fn record_taken(&self, note: &Note) {
        if note.seen.region == Region::Poll {
            self.record_long(&note.machine, note.seen, note.since, note.cause.into());
        }
    }

    /// A poll has lasted for as long as the threshold, or has lost its processor.
    pub(in crate::sched) fn record_long(
        &self,
        machine: &Arc<Machine>,
        seen: Sighting,
        since: Instant,
        cause: BlockedCause,
    ) {
        let turn = seen.turn();
        // `None`: the poll is over, or was not stuck.
        let Some(running) = machine.running_in(turn) else { return };
        self.blocked.record_begin(Begun {
            machine: machine.clone(),
            turn,
            task: running.task,
            name: name_of(running.task),
            location: running.location,
            is_root: running.is_root,
            cause,
            since,
        });
    }

    /// A poll without a processor does something else since then than it did before.
    pub(in crate::sched) fn record_change(&self, machine: &Arc<Machine>, turn: u64, cause: StuckBy, since: Instant) {
        let Some(running) = machine.running_in(turn) else { return };
        let Running { task, location, .. } = running;
        let (machine, name, cause) = (machine.clone(), name_of(task), cause.into());
        self.blocked.record_begin(Begun { machine, turn, task, name, location, is_root: false, cause, since });
    }

    /// sysmon no longer sees a poll that was recorded, or a machine that has lost its processor
    /// returns from one.
    #[cold]
    pub(in crate::sched) fn record_end_of(&self, machine: &Arc<Machine>, turn: u64) {
        self.blocked.record_end(Ended::now(machine, turn));
    }

    /// Starts the report thread, if there is something to report for the first time. If the system
    /// has no thread to give, the next look tries again.
    pub(in crate::sched) fn start_report_thread_if_wanted(self: &Arc<Self>) {
        if !self.blocked.is_thread_wanted() {
            return;
        }
        let scheduler = self.clone();
        let name = "gmp-report".to_owned();
        let body = move || scheduler.blocked.run_thread(&TellRecorder(scheduler.clone()));
        let threads = self.config.threads.with_usual_stack();
        let start = || self.all_machines.start(&threads, name, Machine::new(0), body);
        match check_head_room(self).and_then(|()| start()) {
            Ok(()) => self.blocked.thread_started(),
            Err(error) => say_no_thread(self, &error),
        }
    }
}

/// A known hog has held its thread since then. It had no processor, so sysmon has not seen it.
pub(in crate::sched) fn record_hog(local: &Local, since: Instant, cause: BlockedCause) {
    let machine = &local.machine;
    let Some(running) = machine.running.last() else { return };
    local.scheduler.blocked.record_whole(
        Begun {
            machine: machine.clone(),
            turn: machine.ownership.turn(),
            task: running.task,
            name: name_of(running.task),
            location: running.location,
            is_root: false,
            cause,
            since,
        },
        Instant::now(),
    );
}
