//! The scheduler of one runtime: the data that its machines share, and questions about it.

use std::fmt;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use event_listener::Event;

use crate::lost::Lost;
use crate::metrics::Counter;
use crate::observe::Observers;
use crate::sched::config::Config;
use crate::sched::state::all_machines::AllMachines;
use crate::sched::state::global_queue::GlobalQueue;
use crate::sched::state::idle::Idle;
use crate::sched::state::last_poll::LastPoll;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::TaskCounters;
use crate::sched::state::machine::ownership::{ProcessorToken, Sighting};
use crate::sched::state::netpoll_gate::NetpollGate;
use crate::sched::state::outside::Outside;
use crate::sched::state::permits::Permits;
use crate::sched::state::pool::Closures;
use crate::sched::state::processor::Processor;
use crate::sched::state::processors::Processors;
use crate::sched::state::suspects::Suspects;
use crate::sched::state::sysmon::Sysmon;
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::*;
use crate::sync::{Apart, Arc, CountedArc, Mutex};
use crate::task::registry::Registry;
use crate::task::{Home, HomeRef};
use crate::time::clock::Clock;

/// The fields that are apart are written all the time. The others are read on every turn and hardly
/// ever written.
pub(crate) struct Scheduler {
    pub(crate) config: Config,
    pub(crate) processors: Processors,
    pub(crate) global: GlobalQueue,
    pub(crate) idle: Apart<Idle>,
    pub(crate) netpoll_gate: NetpollGate,
    pub(crate) clock: Clock,
    pub(crate) all_machines: AllMachines,
    pub(crate) closures: Apart<Closures>,
    /// Permits of polls that compute without a processor, and the known hogs that wait for one.
    pub(crate) hogs: Permits,
    pub(super) suspects: Suspects,
    pub(crate) sysmon: Sysmon,
    pub(crate) outside: Outside,
    /// Nanoseconds. Only sysmon writes it.
    pub(crate) longest_poll: Counter,
    pub(crate) observers: Observers,
    /// For threads inside `block_on` of the current-thread flavour that do not drive
    /// (`wake::notify_waiting`).
    pub(super) vacant: Event,
    pub(crate) last_poll: LastPoll,
    /// Admits one change of the number of processors at a time. The value says whether the program has
    /// set a number, so that the CPUs are not followed any more.
    pub(super) resizing: Mutex<bool>,
    /// How often the number has changed. Written under that lock.
    pub(crate) resizes: Counter,
    pub(crate) registry: Registry,
    /// Tasks that could never run again when their `LocalSet` ended.
    pub(crate) lost_in_sets: Mutex<Vec<Lost>>,
    pub(super) is_shutdown: AtomicBool,
    /// A task has panicked, and that has ended the runtime.
    pub(super) has_task_panicked: AtomicBool,
    /// The user was told that a thread could not be started.
    pub(super) has_said_no_thread: AtomicBool,
}

impl Scheduler {
    pub(crate) fn new(config: Config) -> Arc<Scheduler> {
        crate::sys::seccomp::init();
        crate::sys::membarrier::init();
        let processors = config.processors;
        Arc::new(Scheduler {
            processors: Processors::new(0..processors, &config.histograms),
            global: GlobalQueue::new(processors),
            idle: Apart::new(Idle::new(ProcessorToken::mint(0..processors), config.max_machines)),
            netpoll_gate: NetpollGate::default(),
            clock: Clock::new(config.start_paused),
            all_machines: AllMachines::default(),
            closures: Apart::new(Closures::new(config.max_blocking_threads)),
            hogs: Permits::new(config.max_hogs),
            suspects: Suspects::default(),
            sysmon: Sysmon::default(),
            outside: Outside::new(processors),
            longest_poll: Counter::default(),
            observers: Observers::new(&config),
            vacant: Event::new(),
            last_poll: LastPoll::default(),
            resizing: Mutex::new(false),
            resizes: Counter::default(),
            registry: Registry::new(processors),
            lost_in_sets: Mutex::default(),
            is_shutdown: AtomicBool::new(false),
            has_task_panicked: AtomicBool::new(false),
            has_said_no_thread: AtomicBool::new(false),
            config,
        })
    }

    #[inline]
    pub(crate) fn is_shutdown(&self) -> bool {
        self.is_shutdown.load(Relaxed)
    }

    /// The machines that hold a processor and are outside of scheduler code. Only one machine per
    /// processor is considered, however many there are.
    pub(super) fn holders(&self) -> impl Iterator<Item = (Arc<Machine>, Sighting)> {
        self.processors.iter().enumerate().filter_map(|(index, processor)| {
            let machine = processor.holder()?;
            let sighting = machine.ownership.look().filter(|sighting| sighting.processor == index)?;
            Some((machine, sighting))
        })
    }

    /// Whether there is work that an idle processor should be woken for. Leaves `runnext` out, as
    /// `wake_one` does: the owner will run that task, and if the owner is stuck sysmon takes its
    /// processor.
    pub(crate) fn has_visible_work(&self) -> bool {
        !self.global.is_empty() || self.processors.any(|processor| !processor.queue.is_empty())
    }

    /// Whether there is visible work, or a timer is due.
    pub(super) fn has_due_work(&self) -> bool {
        self.has_visible_work() || self.earliest_timer() <= self.clock.now_ns()
    }

    /// The earliest timer of all processors; `u64::MAX` if there is none.
    pub(crate) fn earliest_timer(&self) -> u64 {
        self.processors.iter().map(|processor| processor.timers.earliest()).min().unwrap_or(u64::MAX)
    }

    /// The earliest timer of all processors that was not cancelled. A cancelled timer must neither
    /// end a sleep nor make a paused clock jump.
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
        // In this order, because a task that begins and ends between the two sums must not count as
        // finished only.
        let finished = self.sum_of_tasks(|counters| &counters.finished);
        self.sum_of_tasks(|counters| &counters.spawned).saturating_sub(finished) as usize
    }

    /// Tasks that were spawned, without blocking closures.
    pub(crate) fn spawned_tasks(&self) -> u64 {
        let closures = self.outside.sum(|counters| &counters.closures);
        self.sum_of_tasks(|counters| &counters.spawned).saturating_sub(closures)
    }

    fn sum_of_tasks(&self, counter: fn(&TaskCounters) -> &Counter) -> u64 {
        self.outside.sum(|counters| counter(&counters.tasks)) + self.all_machines.sum(counter)
    }
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").finish_non_exhaustive()
    }
}

/// A reference to the scheduler whose count is not shared by all threads.
///
/// Every task, timer and handle keeps its scheduler alive. If they all shared one reference count,
/// every spawn and every timeout on every core would write to one cache line. So each machine has a
/// `SchedulerRef` of its own, with counts of its own: timers and handles clone the reference, tasks
/// its home. Only the `SchedulerRef`s and their homes count as references to the scheduler itself.
/// Rejected: a reference without a count (tasks outlive runtimes in foreign wakers).
#[derive(Clone, Debug)]
pub(crate) struct SchedulerRef(CountedArc<Inner>);

/// Aligned to cache lines of its own, because every timer writes to the count.
#[derive(Debug)]
#[repr(align(128))]
struct Inner {
    scheduler: Arc<Scheduler>,
    /// With a count of its own. A home is a single pointer, and must be told from that of a
    /// `LocalSet`; timers need not pay for that.
    home: HomeRef,
}

impl SchedulerRef {
    /// A reference with new counts: one for references to the scheduler, one for homes of tasks.
    pub(crate) fn new(scheduler: Arc<Scheduler>) -> SchedulerRef {
        let home = HomeRef::new(Home::Scheduler(scheduler.clone()));
        SchedulerRef(CountedArc::new(Inner { scheduler, home }))
    }

    /// The home of tasks that are spawned through this reference.
    #[inline]
    pub(crate) fn home(&self) -> &HomeRef {
        &self.0.home
    }
}

impl Deref for SchedulerRef {
    type Target = Arc<Scheduler>;

    #[inline]
    fn deref(&self) -> &Arc<Scheduler> {
        &self.0.scheduler
    }
}

/// A panic in a task leaves the scheduler as it was: nothing of a task unwinds into it.
impl UnwindSafe for SchedulerRef {}
impl RefUnwindSafe for SchedulerRef {}
