//! The real scheduler with a few machines, each a thread of the model, and without sysmon.

use std::panic::Location;
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::thread::{self, JoinHandle};

use crate::context;
use crate::sched::config::{Config, Flavor, IoEvents};
use crate::sched::local::{Local, Next};
use crate::sched::park::sleep;
use crate::sched::run::find_runnable::find_runnable;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::idle::Role;
use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::sysmon::Level;
use crate::sched::state::threads::{Hooks, Threads};
use crate::sched::submit::wake::submit_global;
use crate::sched::{run, submit};
use crate::sync::{Arc, Mutex};
use crate::sys::time_slice::TimeSlices;
use crate::sys::timer_slack::TimerSlack;
use crate::task::{AtShutdown, Header, Kind, Observed, Place, Runnable, UnhandledPanic, new_task};
use crate::time::driver::Driver;

/// A scheduler that starts no threads by itself.
pub(crate) fn scheduler(processors: usize) -> Arc<Scheduler> {
    Scheduler::new(config(processors, Flavor::MultiThread))
}

/// As [`scheduler`], but its machines trust that sysmon looks at them. No sysmon runs, so the model
/// shows that none is needed.
pub(crate) fn watched(processors: usize) -> Arc<Scheduler> {
    watched_with(processors, config(processors, Flavor::MultiThread).max_machines)
}

/// The same with a cap on its machines.
pub(crate) fn watched_with(processors: usize, max_machines: usize) -> Arc<Scheduler> {
    Scheduler::new(Config { sysmon: true, max_machines, ..config(processors, Flavor::MultiThread) })
}

pub(crate) fn config(processors: usize, flavor: Flavor) -> Config {
    let threads = Threads { name: Arc::new(String::new), stack_size: None, keep_alive: Duration::MAX };
    Config {
        flavor,
        name: None,
        is_local: false,
        processors,
        follow: None,
        max_blocking_threads: 1,
        closures_in_place: false,
        max_machines: 4,
        max_hogs: 1,
        fits_hogs: false,
        global_queue_interval: 61,
        event_interval: 61,
        io_events: IoEvents { per_tick: 1, per_busy_tick: None },
        blocking_threshold: Duration::ZERO,
        sysmon: false,
        time_slices: TimeSlices::Off,
        timer_slack: TimerSlack::current(),
        debug: Default::default(),
        blocked: crate::blocked::Settings::default(),
        trace: None,
        is_watched: false,
        observed: Observed::default(),
        deadlock: None,
        silence: None,
        leaks: Default::default(),
        start_paused: false,
        enable_io: false,
        enable_time: true,
        threads,
        hooks: Hooks::default(),
        histograms: Default::default(),
        task_hooks: None,
        unhandled_panic: UnhandledPanic::Ignore,
        has_runnext: true,
        seeds: None,
    }
}

/// A scheduled task with that body. It must be run.
pub(crate) fn task(scheduler: &Arc<Scheduler>, body: impl FnOnce() + Send + 'static) -> Runnable {
    task_of(scheduler, Kind::Task(Default::default()), body)
}

/// A blocking closure that was not submitted yet.
pub(crate) fn closure(scheduler: &Arc<Scheduler>, place: Place, body: impl FnOnce() + Send + 'static) -> Runnable {
    task_of(scheduler, Kind::Closure(AtShutdown::Wait, place), body)
}

fn task_of(scheduler: &Arc<Scheduler>, kind: Kind, body: impl FnOnce() + Send + 'static) -> Runnable {
    let home = SchedulerRef::new(scheduler.clone()).home().clone();
    new_task(Header::new(home, kind, Location::caller()), async { body() }).0
}

/// Sets a timer that is due at once.
pub(crate) fn set_timer(scheduler: &Arc<Scheduler>) {
    set_timer_for(scheduler, || ());
}

/// The same for a task with that body.
pub(crate) fn set_timer_for(scheduler: &Arc<Scheduler>, body: impl FnOnce() + Send + 'static) {
    let waker = Waker::from(Arc::new(Scheduled(Mutex::new(Some(task(scheduler, body))))));
    Driver::of(scheduler).expect("timers are enabled").insert(1, waker);
}

/// A machine that has not started yet.
pub(crate) struct Actor {
    scheduler: Arc<Scheduler>,
    machine: Arc<Machine>,
    /// The list of `Idle` that the machine is on; `None`: on none.
    role: Option<Role>,
}

/// A machine that holds a processor.
pub(crate) fn busy(scheduler: &Arc<Scheduler>) -> Actor {
    let machine = count(scheduler);
    machine.ownership.acquire(scheduler.idle.acquire().expect("a processor is left"));
    Actor { scheduler: scheduler.clone(), machine, role: None }
}

/// A machine without a processor, on no list: its poll has just ended, and the processor was taken
/// during the poll.
pub(crate) fn without_processor(scheduler: &Arc<Scheduler>) -> Actor {
    Actor { scheduler: scheduler.clone(), machine: count(scheduler), role: None }
}

/// A machine that was just put on a list of `Idle`, and is about to sleep. The first one is the
/// sleeper.
pub(crate) fn idle(scheduler: &Arc<Scheduler>) -> Actor {
    let machine = count(scheduler);
    let role = scheduler.idle.go_idle(None, &machine, false);
    Actor { scheduler: scheduler.clone(), machine, role: Some(role) }
}

impl Actor {
    /// Lets sysmon see that this machine has a processor.
    pub(crate) fn show(&self) {
        let index = self.machine.ownership.holds().expect("it is busy");
        self.scheduler.processors[index].set_holder(&self.machine);
    }

    /// The machine, for a model that looks at it.
    pub(crate) fn machine(&self) -> Arc<Machine> {
        self.machine.clone()
    }

    /// Puts the machine inside a poll, in which its processor can be taken.
    pub(crate) fn in_poll(self) -> Actor {
        self.machine.ownership.begin(Region::Poll);
        self
    }

    /// Starts the thread. An idle machine runs `body` when it was woken.
    pub(crate) fn start(self, body: impl FnOnce(&Local) + 'static) -> JoinHandle<()> {
        thread::spawn(move || {
            self.machine.bind();
            context::as_machine(&Local::new(self.scheduler, self.machine), |local| {
                match self.role.map(|role| sleep(local, role)) {
                    None | Some(Next::Look) => {}
                    Some(Next::Run(task)) => submit_global(&local.scheduler, [task]),
                    Some(Next::Exit) => panic!("nothing shuts down"),
                }
                body(local);
            });
        })
    }
}

/// Lists a machine that has no thread as the sleeper, so that the other machines become spares. Long
/// polls are expected, so wakers prefer these.
pub(crate) fn list_a_sleeper(scheduler: &Arc<Scheduler>) {
    scheduler.sysmon.expect(Level::LongPolls);
    assert_eq!(scheduler.idle.go_idle(None, &count(scheduler), false), Role::Sleeper);
}

/// Lists a machine that has no thread as a spare.
pub(crate) fn list_a_spare(scheduler: &Arc<Scheduler>) {
    let [first, spare] = [(); 2].map(|()| count(scheduler));
    assert_eq!(scheduler.idle.go_idle(None, &first, false), Role::Sleeper);
    assert_eq!(scheduler.idle.go_idle(None, &spare, false), Role::Spare);
    scheduler.idle.unlist(&first);
}

/// Looks for one task as a machine does, sleeps as often as it must, and runs the task.
pub(crate) fn run_one(local: &Local) {
    run::execute(local, find_runnable(local).expect("no thread shuts down"));
}

fn count(scheduler: &Arc<Scheduler>) -> Arc<Machine> {
    Machine::new(scheduler.idle.count_machine().expect("the cap is high enough"))
}

/// The waker of a task that waits for a timer.
struct Scheduled(Mutex<Option<Runnable>>);

impl Wake for Scheduled {
    fn wake(self: Arc<Self>) {
        let task = self.0.lock().take();
        submit(task.expect("a timer fires once"), false);
    }
}
