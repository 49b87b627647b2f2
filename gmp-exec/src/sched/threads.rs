//! Starting the threads of machines.

use crate::sched::run;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::{Assignment, Birth, Machine, thread_root};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;

impl Scheduler {
    /// Starts the thread of a machine that `idle` has counted. If the system has no thread to give,
    /// the processor goes back to the idle list: running machines look there before they park, and
    /// sysmon tries again.
    #[doc(alias = "newm")]
    pub(super) fn start_machine(self: &Arc<Self>, id: usize, assignment: Assignment) {
        let machine = Machine::new(id);
        machine.assign(assignment);
        if self.spawn_thread(&machine, Birth::Assigned).is_err() {
            if let Some(assignment) = machine.take_assignment() {
                if let Assignment::Run { token, .. } = &assignment {
                    self.processors[token.index()].busy.end(self.clock.running_ns());
                }
                self.idle.not_started(assignment);
                if self.is_shutdown() {
                    // The machines that would look there may all have left.
                    self.drain_late();
                }
                self.send_for_spare();
            }
        }
    }

    /// A processor is back on the idle list because no machine was available for it. A machine that
    /// had found the list empty before may have parked since, and no other thread would wake it.
    pub(super) fn send_for_spare(self: &Arc<Self>) {
        fence(SeqCst);
        if self.idle.snapshot().spares > 0 {
            self.wake_spinner();
        }
    }

    pub(super) fn spawn_thread(self: &Arc<Self>, machine: &Arc<Machine>, birth: Birth) -> std::io::Result<()> {
        let scheduler = self.clone();
        self.start_thread(machine.clone(), move |machine| {
            scheduler.config.hooks.started();
            thread_root::run(&mut || run::thread_main(scheduler.clone(), machine.clone(), birth));
            scheduler.config.hooks.stopped();
        })
    }

    /// Starts a thread, named as the user wants, for a machine that has none yet.
    pub(super) fn start_thread(
        &self,
        machine: Arc<Machine>,
        body: impl FnOnce(Arc<Machine>) + Send + 'static,
    ) -> std::io::Result<()> {
        let threads = &self.config.threads;
        self.all_machines.start(threads, threads.name(), machine.clone(), || body(machine))
    }

    /// Makes sure that a scheduler with idle processors has a thread at all. A later failure to
    /// start a thread then only slows it down.
    pub(crate) fn start_first_machine(self: &Arc<Self>) -> std::io::Result<()> {
        let Some(id) = self.idle.count_machine() else { return Ok(()) };
        let result = self.spawn_thread(&Machine::new(id), Birth::Free);
        if result.is_err() {
            self.idle.uncount_machine();
        }
        result
    }
}
