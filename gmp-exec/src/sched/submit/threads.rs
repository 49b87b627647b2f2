//! Starting the threads of machines.

use std::io;

use crate::sched::run;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::{Assignment, Birth, Machine, thread_root};
use crate::sched::state::sysmon::calls;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sys::stderr;

impl Scheduler {
    /// Makes a machine that `idle` has counted, and lets sysmon start its thread if there is a
    /// sysmon (`state::sysmon::starts`).
    #[doc(alias = "newm")]
    pub(in crate::sched) fn start_machine(self: &Arc<Self>, id: usize, assignment: Assignment) {
        let machine = Machine::new(id);
        machine.assign(assignment);
        match self.sysmon.starts.add(machine) {
            Ok(()) => self.sysmon.calls.add(calls::START),
            Err(machine) => self.start_here(&machine),
        }
    }

    /// Starts the thread of a machine. If the system has no thread to give, the processor goes back
    /// to the idle list: running machines look there before they park, and sysmon tries again.
    pub(in crate::sched) fn start_here(self: &Arc<Self>, machine: &Arc<Machine>) {
        let Err(error) = self.spawn_thread(machine, Birth::Assigned) else { return };
        self.say_no_thread(&error);
        if let Some(assignment) = machine.take_assignment() {
            let tasks = match &assignment {
                Assignment::Run { token, .. } => self.take_tasks(token),
                Assignment::Exit => Vec::new(),
            };
            self.idle.not_started(assignment);
            if self.is_shutdown() {
                // The machines that would look there may all have left.
                self.drain_late();
            }
            self.attend_to(tasks);
        }
    }

    /// Says once that the system has no thread to give: what needs the thread may wait for long. The
    /// caller may be any thread, so it must not wait for the reader of standard error.
    #[cold]
    pub(crate) fn say_no_thread(&self, error: &io::Error) {
        if !self.has_said_no_thread.swap(true, Relaxed) {
            let waits = "what needs the thread waits until it can";
            stderr::try_write(&format!("gmp: OS can't spawn worker thread: {error}; {waits}\n"));
        }
    }

    pub(in crate::sched) fn spawn_thread(self: &Arc<Self>, machine: &Arc<Machine>, birth: Birth) -> io::Result<()> {
        self.check_room_for_machine()?;
        let scheduler = self.clone();
        self.start_thread(machine.clone(), move |machine| {
            scheduler.config.hooks.started();
            thread_root::run(&mut || run::thread_main(scheduler.clone(), machine.clone(), birth));
            scheduler.config.hooks.stopped();
        })
    }

    /// Starts a thread, named as the user wants, for a machine that has none yet.
    pub(in crate::sched) fn start_thread(
        &self,
        machine: Arc<Machine>,
        body: impl FnOnce(Arc<Machine>) + Send + 'static,
    ) -> io::Result<()> {
        let (threads, slack) = (&self.config.threads, self.config.timer_slack);
        self.all_machines.start(threads, threads.name(), machine.clone(), move || {
            // sysmon's, if sysmon has started this thread.
            slack.set();
            body(machine);
        })
    }

    /// Makes sure that a scheduler with idle processors has a thread at all. A later failure to
    /// start a thread then only slows it down.
    pub(crate) fn start_first_machine(self: &Arc<Self>) -> io::Result<()> {
        let Some(id) = self.idle.count_machine() else { return Ok(()) };
        let result = self.spawn_thread(&Machine::new(id), Birth::Free);
        if result.is_err() {
            self.idle.uncount_machine();
        }
        result
    }
}
