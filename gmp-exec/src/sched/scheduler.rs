//! The scheduler of one runtime: everything that its machines share.

use super::admission::Admission;
use super::closures::Closures;
use super::global_queue::{GlobalQueue, Pushed};
use super::idle::{Idle, Wake};
use super::last_poll::LastPoll;
use super::machine::{self, Assignment, Birth, Machine};
use super::overdue::Overdue;
use super::ownership::{ProcessorToken, Sighting};
use super::poller::Poller;
use super::processor::Processor;
use super::roster::{Roster, TaskCounters};
use super::steal::VictimOrder;
use super::sysmon::Sysmon;
use crate::metrics::Counter;
use crate::runtime::config::Config;
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, fence};
use crate::task::registry::Registry;
use crate::task::{Runnable, cancel};
use crate::time::clock::Clock;

#[derive(Debug)]
pub(crate) struct Scheduler {
    pub(crate) config: Config,
    pub(crate) processors: Box<[Processor]>,
    pub(crate) global: GlobalQueue,
    pub(crate) idle: Idle,
    pub(crate) poller: Poller,
    pub(crate) clock: Clock,
    pub(crate) roster: Roster,
    pub(crate) closures: Closures,
    /// Machines without a processor whose poll computes, and known hogs that wait.
    pub(crate) hogs: Admission,
    pub(crate) overdue: Overdue,
    pub(crate) sysmon: Sysmon,
    pub(crate) victims: VictimOrder,
    pub(crate) outside: OutsideCounters,
    pub(crate) driver: super::current_thread::Driver,
    pub(super) last_poll: LastPoll,
    registry: Registry,
    is_shutdown: AtomicBool,
}

/// What is counted by threads without a processor.
#[derive(Debug, Default)]
pub(crate) struct OutsideCounters {
    pub(crate) tasks: TaskCounters,
    pub(crate) remote_schedules: Counter,
    /// Nanoseconds.
    pub(crate) longest_poll: Counter,
}

impl Scheduler {
    pub(crate) fn new(config: Config) -> Arc<Scheduler> {
        crate::sys::membarrier::init();
        let processors = config.processors;
        Arc::new(Scheduler {
            processors: (0..processors).map(Processor::new).collect(),
            global: GlobalQueue::new(),
            idle: Idle::new(ProcessorToken::mint(processors), config.max_machines),
            poller: Poller::new(),
            clock: Clock::new(config.start_paused),
            roster: Roster::new(),
            closures: Closures::new(config.max_blocking_threads),
            hogs: Admission::new(config.max_hogs),
            overdue: Overdue::new(),
            sysmon: Sysmon::new(),
            victims: VictimOrder::new(processors),
            outside: OutsideCounters::default(),
            driver: super::current_thread::Driver::new(),
            last_poll: LastPoll::new(),
            registry: Registry::new(processors),
            is_shutdown: AtomicBool::new(false),
            config,
        })
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    #[inline]
    pub(crate) fn is_shutdown(&self) -> bool {
        self.is_shutdown.load(Relaxed)
    }

    /// Whether timers and I/O have ended, which they do after the last poll.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.last_poll.is_over()
    }

    pub(super) fn begin_shutdown(&self) -> bool {
        !self.is_shutdown.swap(true, SeqCst)
    }

    // ---- submitting ----

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
        } else if self.overdue.is_any() {
            self.take_overdue();
        } else if self.sysmon.is_listening() {
            self.call_sysmon();
        } else if self.config.is_current_thread() {
            self.interrupt_poller();
        }
    }

    /// Nobody is idle who could come for what was published. If that is because threads sleep in their polls, sysmon finds out.
    #[cold]
    fn call_sysmon(&self) {
        if self.idle.is_everybody_busy() {
            self.sysmon.call();
        }
    }

    #[cold]
    fn wake_spinner(self: &Arc<Self>) {
        if self.config.is_current_thread() {
            // Its processor waits for somebody to call `block_on`, and no machine could be sent.
            return;
        }
        let wake = self.idle.wake_spinner();
        self.carry_out(wake, true);
    }

    /// Gets the machine going that `idle` has chosen.
    pub(super) fn carry_out(self: &Arc<Self>, wake: Wake, spinning: bool) {
        match wake {
            Wake::Nobody => return,
            Wake::Spare(machine) => machine.unpark(),
            Wake::Poller(machine) => {
                fence(SeqCst);
                self.poller.interrupt(&machine);
            }
            Wake::Start { id, token } => self.start_machine(id, Assignment::Run { token, spinning }),
        }
        self.notice_busy();
    }

    /// A reason not to sleep was published.
    pub(crate) fn interrupt_poller(&self) {
        if self.idle.has_poller() {
            if let Some(machine) = self.idle.poller() {
                self.poller.interrupt(&machine);
            }
        }
    }

    /// A timer was set, after which the caller has fenced: interrupts the sleeper if it would sleep past it. `false`:
    /// nobody sleeps there.
    pub(crate) fn announce_timer(&self, when: u64) -> bool {
        let Some(machine) = self.idle.poller() else { return false };
        if machine.until.is_past(when) {
            self.poller.interrupt(&machine);
        }
        true
    }

    // ---- machines ----

    /// Starts the thread of a machine that `idle` has counted. If the system has no thread to give, the processor goes
    /// back to the idle list: machines that run look there before they park, and sysmon tries again.
    pub(super) fn start_machine(self: &Arc<Self>, id: usize, assignment: Assignment) {
        let machine = Machine::new(id);
        machine.assign(assignment);
        if self.spawn_thread(&machine, Birth::Assigned).is_err() {
            if let Some(assignment) = machine.take_assignment() {
                if let Assignment::Run { token, .. } = &assignment {
                    self.processors[token.index()].end_busy(self.clock.running_ns());
                }
                self.idle.not_started(assignment);
                if self.is_shutdown() {
                    // The machines that look there may all have left.
                    self.drain_late();
                }
                self.send_for_spare();
            }
        }
    }

    /// A processor is back on the list because no machine was to be had for it. One that found the list empty meanwhile has
    /// parked, and nobody else would tell it.
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
            machine::run(scheduler.clone(), machine, birth);
            scheduler.config.hooks.stopped();
        })
    }

    /// A thread with a name of the user's choice, for a machine that has none yet.
    pub(super) fn start_thread(
        &self,
        machine: Arc<Machine>,
        body: impl FnOnce(Arc<Machine>) + Send + 'static,
    ) -> std::io::Result<()> {
        let threads = &self.config.threads;
        self.roster.start(threads, threads.name(), machine.clone(), || body(machine))
    }

    /// Makes sure that a scheduler with idle processors has a thread at all, so that a later failure to start one only
    /// slows it down.
    pub(crate) fn start_first_machine(self: &Arc<Self>) -> std::io::Result<()> {
        let Some(id) = self.idle.count_machine() else { return Ok(()) };
        let result = self.spawn_thread(&Machine::new(id), Birth::Free);
        if result.is_err() {
            self.idle.uncount_machine();
        }
        result
    }

    // ---- looking ----

    /// The machines that hold a processor and are outside of scheduler code. However many machines there are, only one is asked
    /// for each processor.
    pub(super) fn holders(&self) -> impl Iterator<Item = (Arc<Machine>, Sighting)> {
        self.processors.iter().enumerate().filter_map(|(index, processor)| {
            let machine = processor.holder()?;
            let sighting = machine.ownership.look().filter(|sighting| sighting.processor == index)?;
            Some((machine, sighting))
        })
    }

    /// Whether there is something that an idle processor should be woken for. Leaves `runnext` out, as `wake_one` does:
    /// its owner gets to it, and sysmon vouches for it.
    pub(crate) fn has_visible_work(&self) -> bool {
        !self.global.is_empty() || self.processors.iter().any(|processor| !processor.queue.is_empty())
    }

    /// The same, or a timer that is due.
    pub(super) fn has_due_work(&self) -> bool {
        self.has_visible_work() || self.earliest_timer() <= self.clock.now_ns()
    }

    /// The earliest timer of all; `u64::MAX` if there is none.
    pub(crate) fn earliest_timer(&self) -> u64 {
        self.processors.iter().map(|processor| processor.timers.earliest()).min().unwrap_or(u64::MAX)
    }

    /// The same, exact: cancelled timers must not end a sleep, nor a paused clock jump to where they were.
    pub(crate) fn next_timer(&self) -> u64 {
        loop {
            let earliest = |processor: &&Processor| processor.timers.earliest();
            let Some(timers) = self.processors.iter().min_by_key(earliest).map(|processor| &processor.timers) else {
                return u64::MAX;
            };
            let claimed = timers.earliest();
            let exact = timers.next();
            if exact <= claimed {
                return exact;
            }
        }
    }

    pub(crate) fn live_tasks(&self) -> usize {
        let (mut spawned, mut finished) = self.outside.tasks.read();
        let (by_machines, of_machines) = self.roster.task_counts();
        spawned += by_machines;
        finished += of_machines;
        spawned.saturating_sub(finished) as usize
    }
}
