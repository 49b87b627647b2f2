//! Waking a machine for work that was published.

use crate::sched::scheduler::Scheduler;
use crate::sched::state::global_queue::Pushed;
use crate::sched::state::idle::Wake;
use crate::sched::state::machine::Assignment;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::{Runnable, cancel};

impl Scheduler {
    /// Queues tasks for whoever comes first. From any thread, with or without a processor.
    pub(crate) fn submit_global(self: &Arc<Self>, tasks: impl IntoIterator<Item = Runnable>) {
        match self.global.push(tasks) {
            Pushed::Queued => self.wake_one(),
            Pushed::Condemned => {}
            Pushed::Closed(tasks) => tasks.into_iter().for_each(cancel),
        }
    }

    /// Work was published: sees to it that somebody comes for it.
    #[inline]
    pub(crate) fn wake_one(self: &Arc<Self>) {
        fence(SeqCst);
        self.wake_one_unfenced();
    }

    /// For a caller that may be wrong for a moment about who is idle.
    #[inline]
    pub(crate) fn wake_one_unfenced(self: &Arc<Self>) {
        if self.idle.should_wake() {
            self.wake_spinner();
        } else if self.takeable.is_any() {
            self.retake_listed();
        } else if self.sysmon.is_listening() {
            self.call_sysmon();
        } else if self.config.is_current_thread() {
            self.interrupt_sleeper();
        }
    }

    /// Nobody is idle who could come for what was published. If that is because threads sleep in their polls, sysmon finds out.
    #[cold]
    fn call_sysmon(&self) {
        if self.idle.are_all_busy() {
            self.sysmon.call();
        }
    }

    #[cold]
    pub(in crate::sched) fn wake_spinner(self: &Arc<Self>) {
        if self.config.is_current_thread() {
            // Its processor waits for somebody to call `block_on`, and no machine could be sent.
            return;
        }
        let wake = self.idle.wake_spinner();
        self.perform(wake, true);
    }

    /// Gets the machine going that `idle` has chosen.
    pub(super) fn perform(self: &Arc<Self>, wake: Wake, spinning: bool) {
        match wake {
            Wake::Nobody => return,
            Wake::Spare(machine) => machine.unpark(),
            Wake::Sleeper(machine) => {
                fence(SeqCst);
                self.netpoll_gate.interrupt(&machine);
            }
            Wake::Start { id, token } => self.start_machine(id, Assignment::Run { token, spinning }),
        }
        self.notice_busy();
    }

    /// A reason not to sleep was published.
    pub(crate) fn interrupt_sleeper(&self) {
        if self.idle.has_sleeper() {
            if let Some(machine) = self.idle.sleeper() {
                self.netpoll_gate.interrupt(&machine);
            }
        }
    }

    /// A timer was set, after which the caller has fenced: interrupts the sleeper if it would sleep past it. `false`:
    /// nobody sleeps there.
    pub(crate) fn announce_timer(&self, when: u64) -> bool {
        let Some(machine) = self.idle.sleeper() else { return false };
        if machine.sleep_until.is_past(when) {
            self.netpoll_gate.interrupt(&machine);
        }
        true
    }
}
