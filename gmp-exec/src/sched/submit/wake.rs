//! Publishing tasks in the global queue, and waking a machine for work that was published (Go:
//! `wakep`, `startm`).
//!
//! Also finding a machine for a processor, and what becomes of a processor for which there is none:
//! `max_machines` is reached, the system has no thread to give, or the runtime is shutting down.
//!
//! The tasks of such a processor go to the global queue before it goes on a list. There, running
//! machines find the tasks before they park. They would not always find the tasks in the queue of a
//! processor on a list: not the one in `runnext`, and none if that processor, or their own, retires
//! (sched/README.md §11).

use std::iter;

use event_listener::IntoNotification;

use crate::context;
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown::drain_late;
use crate::sched::state::global_queue::Pushed;
use crate::sched::state::idle::Wake;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::machine::{Assignment, Machine};
use crate::sched::state::sysmon::{Level, calls};
use crate::sched::submit::threads::{say_no_thread, spawn_thread};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::{Runnable, cancel};

/// Queues tasks in the global queue. May be called from any thread, with or without a processor.
#[doc(alias = "globrunqput")]
pub(crate) fn submit_global(scheduler: &Arc<Scheduler>, tasks: impl IntoIterator<Item = Runnable>) {
    match scheduler.global.push(context::number(scheduler), tasks) {
        Pushed::Queued => wake_one(scheduler),
        Pushed::Condemned => {}
        Pushed::Closed(tasks) => tasks.into_iter().for_each(cancel),
    }
}

/// Queues a task that has waited for a permit and got one.
pub(in crate::sched) fn submit_permitted(scheduler: &Arc<Scheduler>, task: Runnable) {
    task.metadata().give_permit();
    submit_global(scheduler, [task]);
}

/// Work was published: wakes a machine for it unless one is searching already.
#[doc(alias = "wakep")]
#[inline]
pub(crate) fn wake_one(scheduler: &Arc<Scheduler>) {
    fence(SeqCst);
    wake_one_unfenced(scheduler);
}

/// For a caller that has fenced already, or for which a stale view of `idle` does no harm.
#[inline]
pub(crate) fn wake_one_unfenced(scheduler: &Arc<Scheduler>) {
    if scheduler.idle.counts().should_wake() {
        wake_spinner(scheduler);
    } else if scheduler.sysmon.is_listening() {
        call_sysmon(scheduler);
    } else if scheduler.config.is_current_thread() {
        interrupt_sleeper(scheduler);
    }
}

/// For work that a submitter may have left, because it came before the caller's change and found no
/// processor, or no machine: a machine that was listed since, or a processor.
pub(in crate::sched) fn ask_once_more(scheduler: &Arc<Scheduler>) {
    fence(SeqCst);
    if scheduler.has_due_work() {
        wake_one_unfenced(scheduler);
    }
}

/// No machine is idle that could run the published work. If that is because threads sleep in
/// their polls, sysmon will find out.
#[cold]
fn call_sysmon(scheduler: &Scheduler) {
    if scheduler.idle.counts().are_all_busy() {
        scheduler.sysmon.call();
    }
}

/// Gives an idle processor to a machine, which will look for work as a spinner.
#[cold]
pub(in crate::sched) fn wake_spinner(scheduler: &Arc<Scheduler>) {
    if scheduler.config.is_current_thread() {
        // The only processor waits for a thread that calls `block_on`; no machine can be started for it.
        return;
    }
    // While long polls are likely, a machine stays in the netpoll: busy machines may not look there soon.
    let wake = scheduler.idle.wake_spinner(scheduler.sysmon.expects(Level::LongPolls));
    perform(scheduler, wake);
}

/// Starts or wakes the machine that `idle` has chosen.
#[doc(alias = "startm")]
pub(in crate::sched) fn perform(scheduler: &Arc<Scheduler>, wake: Wake) {
    match wake {
        Wake::None => return,
        Wake::Spare(machine) => machine.unpark(),
        Wake::Sleeper(machine) => {
            fence(SeqCst);
            scheduler.netpoll_gate.interrupt(&machine);
        }
        Wake::Start { id, token, spinning } => start_machine(scheduler, id, Assignment::Run { token, spinning }),
    }
    scheduler.sysmon.notice_busy(&scheduler.idle);
}

/// A reason not to sleep was published: interrupts the sleeper.
pub(crate) fn interrupt_sleeper(scheduler: &Scheduler) {
    if scheduler.idle.counts().has_sleeper() {
        if let Some(machine) = scheduler.idle.sleeper() {
            scheduler.netpoll_gate.interrupt(&machine);
        }
    }
}

/// Wakes the threads inside `block_on` that do not drive: the processor is back, or a root future was
/// woken. The caller has made a SeqCst fence, or released the lock of `Idle`, after its reason. The
/// other side listens, which makes a SeqCst fence, and looks for the reason afterwards. Hardly ever is
/// there such a thread, and an event that was never listened to has no lock yet.
#[inline]
pub(in crate::sched) fn notify_waiting(scheduler: &Scheduler) {
    if scheduler.vacant.total_listeners() > 0 {
        scheduler.vacant.notify(usize::MAX.relaxed());
    }
}

/// A timer was set and the caller has fenced: interrupts the sleeper if it would sleep past the
/// timer. `false`: no machine sleeps in the netpoll.
pub(crate) fn announce_timer(scheduler: &Scheduler, when: u64) -> bool {
    let Some(machine) = scheduler.idle.sleeper() else { return false };
    if machine.sleep_until.is_past(when) {
        scheduler.netpoll_gate.interrupt(&machine);
    }
    true
}

/// Assigns a processor to a machine if the processor is needed. Otherwise puts it on the idle list.
pub(in crate::sched) fn assign(scheduler: &Arc<Scheduler>, token: ProcessorToken) {
    let index = token.index();
    if is_needed(scheduler, index) {
        return match scheduler.idle.assign_machine(token) {
            Ok(wake) => perform(scheduler, wake),
            Err(token) => {
                let tasks = take_tasks(scheduler, &token);
                scheduler.idle.put(token);
                attend_to(scheduler, tasks);
            }
        };
    }
    scheduler.processors[index].busy.end(scheduler.clock.running_ns());
    scheduler.idle.put(token);
    fence(SeqCst);
    if is_needed(scheduler, index) {
        wake_one(scheduler);
    } else {
        announce_timer(scheduler, scheduler.processors[index].timers.earliest());
    }
}

/// Whether processor `index` is needed: because work waits, or because no machine sleeps in the
/// netpoll.
fn is_needed(scheduler: &Scheduler, index: usize) -> bool {
    scheduler.processors[index].has_work() || scheduler.has_visible_work() || !scheduler.idle.counts().has_sleeper()
}

/// Makes a machine that `idle` has counted, and lets sysmon start its thread if there is a
/// sysmon (`state::sysmon::starts`).
#[doc(alias = "newm")]
pub(in crate::sched) fn start_machine(scheduler: &Arc<Scheduler>, id: usize, assignment: Assignment) {
    let machine = Machine::new(id);
    machine.assign(assignment);
    match scheduler.sysmon.starts.add(machine) {
        Ok(()) => scheduler.sysmon.calls.add(calls::WOKEN),
        Err(machine) => start_here(scheduler, &machine),
    }
}

/// Starts the thread of a machine. If the system has no thread to give, the processor goes back
/// to the idle list: running machines look there before they park, and sysmon tries again.
pub(in crate::sched) fn start_here(scheduler: &Arc<Scheduler>, machine: &Arc<Machine>) {
    let Err(error) = spawn_thread(scheduler, machine) else { return };
    say_no_thread(scheduler, &error);
    if let Some(Assignment::Run { token, spinning }) = machine.take_assignment() {
        let tasks = take_tasks(scheduler, &token);
        scheduler.idle.not_started(machine.id, token, spinning);
        if scheduler.is_shutdown() {
            // The machines that would look there may all have left.
            drain_late(scheduler);
        }
        attend_to(scheduler, tasks);
    }
}

/// Empties the queue of a processor that no machine has.
fn take_tasks(scheduler: &Scheduler, token: &ProcessorToken) -> Vec<Runnable> {
    scheduler.processors[token.index()].busy.end(scheduler.clock.running_ns());
    iter::from_fn(|| scheduler.processors.pop_without_machine(token)).collect()
}

/// The processor is on a list now, and these tasks were queued at it.
fn attend_to(scheduler: &Arc<Scheduler>, tasks: Vec<Runnable>) {
    if !tasks.is_empty() {
        submit_global(scheduler, tasks);
    }
    // A machine that had found the idle list empty before may have parked since, and no other
    // thread would wake it.
    fence(SeqCst);
    if scheduler.idle.snapshot().spares > 0 {
        wake_spinner(scheduler);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Barrier;

    use crate::runtime::{Builder, Runtime};
    use crate::sync::Arc;
    use crate::task::{JoinSet, spawn, yield_now};

    const PROCESSORS: usize = 64;

    fn runtime() -> Runtime {
        Builder::new_multi_thread().worker_threads(PROCESSORS).sysmon(false).build().unwrap()
    }

    /// Each task holds its thread until all others run, so each needs a processor.
    #[test]
    fn a_burst_from_a_task_gets_all_processors() {
        let runtime = runtime();
        for _ in 0..10 {
            let meeting = Arc::new(Barrier::new(PROCESSORS));
            runtime.block_on(async {
                spawn(async move {
                    let mut tasks = JoinSet::new();
                    for _ in 0..PROCESSORS {
                        let meeting = meeting.clone();
                        tasks.spawn(async move { _ = meeting.wait() });
                    }
                    tasks.join_all().await;
                })
                .await
                .unwrap();
            });
        }
    }

    /// Machines wake one another while tasks come and go, and all of them sleep in the end.
    #[test]
    fn short_tasks_that_spawn_others_all_run_and_no_spinner_is_left() {
        let runtime = runtime();
        let sum = runtime.block_on(async {
            let mut roots = JoinSet::new();
            for _ in 0..100 {
                roots.spawn(async {
                    let mut tasks = JoinSet::new();
                    for i in 0..100 {
                        tasks.spawn(async move {
                            yield_now().await;
                            i
                        });
                    }
                    tasks.join_all().await.into_iter().sum::<u64>()
                });
            }
            roots.join_all().await.into_iter().sum::<u64>()
        });
        assert_eq!(sum, 100 * 4950);
        let idle = &runtime.handle().scheduler().idle;
        while idle.snapshot().processors < PROCESSORS {
            std::thread::yield_now();
        }
        assert_eq!(idle.snapshot().spinning, 0);
    }
}
