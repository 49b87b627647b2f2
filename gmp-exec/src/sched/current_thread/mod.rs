//! The current-thread flavour: one processor, bound to the thread that is inside `block_on`.
//!
//! The processor is never taken: tasks run on that thread only, so no other machine could have it.
//! While no thread is inside `block_on`, tasks wait. Several threads may call `block_on` at a time.
//! One of them drives the tasks; the others poll their own future, and one takes over when the
//! first leaves.

pub(in crate::sched) mod driver;
pub(in crate::sched) mod root;

use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use event_listener::Listener;

use crate::contain::{abort, abort_on_unwind};
use crate::context::{self, Entered};
use crate::lost::{self, Before};
use crate::observe::{self, Event, RootName};
use crate::sched::current_thread::driver::Driving;
use crate::sched::current_thread::root::Root;
use crate::sched::local::{Held, Local};
use crate::sched::park::netpoll::{Ready, or_panic};
use crate::sched::run::fire_timers::fire_timers;
use crate::sched::run::mixed::mixed;
use crate::sched::run::poll::{poll, poll_observed};
use crate::sched::scheduler::Scheduler;
use crate::sched::shutdown;
use crate::sched::shutdown::task_panic::panic_if_task_has;
use crate::sched::state::idle::Role;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::machine::thread_root;
use crate::sched::state::threads::call;
use crate::sched::state::unusual::AT_POLL;
use crate::seeded;
use crate::sync::Arc;
use crate::task::{Id, Runnable, coop};

/// A call of `block_on`.
#[derive(Clone, Copy)]
struct Call {
    /// Whether the root future may block; the tasks polled in between have their own setting.
    entered: Entered,
    /// How observers name the future.
    name: RootName,
}

impl Call {
    /// Only a call that borrows the runtime may say that no wake-up comes.
    fn may_fail(&self) -> bool {
        matches!(self.entered, Entered::Runtime(_))
    }
}

/// Runs `future` on this thread, and the runtime's tasks whenever it waits. `location`: where the
/// public function was called.
pub(crate) fn block_on<F: Future>(
    scheduler: &Arc<Scheduler>,
    entered: Entered,
    mut future: Pin<&mut F>,
    location: &'static Location<'static>,
) -> F::Output {
    let call = Call { entered, name: RootName { id: Id::next(), location } };
    let mut output = None;
    run(scheduler, call, &mut |root| {
        output = poll_root(root, entered, future.as_mut());
        output.is_some()
    });
    output.expect("the future is ready")
}

fn poll_root<F: Future>(root: &Root, entered: Entered, future: Pin<&mut F>) -> Option<F::Output> {
    if !root.take_woken() {
        return None;
    }
    let _entered = context::set_entered(entered);
    let _budget = coop::with_budget(Some(coop::UNITS));
    seeded::note_root(root.waker());
    match future.poll(&mut Context::from_waker(root.waker())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Returns when `is_ready`, which polls the root future, says so. One function for all futures.
fn run(scheduler: &Arc<Scheduler>, call: Call, is_ready: &mut dyn FnMut(&Root) -> bool) {
    let mut root = None;
    loop {
        if let Some(driving) = abort_on_unwind(|| Driving::begin(scheduler, call.name.id)) {
            let driver = driving.driver();
            let root = root.as_ref().unwrap_or(&driver.root);
            return thread_root::run(&mut || be_machine(&driver.local, call, root, is_ready));
        }
        let root = root.get_or_insert_with(|| Root::new(scheduler, call.name.id));
        let vacant = scheduler.vacant.listen();
        panic_if_task_has(scheduler);
        if is_ready(root) {
            return;
        }
        if !scheduler.idle.has_processor(0) && !root.is_woken() {
            vacant.wait();
        }
    }
}

/// This thread is the runtime's machine until the root future is ready.
fn be_machine(local: &Local, call: Call, root: &Root, is_ready: &mut dyn FnMut(&Root) -> bool) {
    context::as_machine_of_current(local, |local| {
        let only_polls_unwind = OnlyPollsUnwind(local);
        drive(local, call, root, is_ready);
        std::mem::forget(only_polls_unwind);
    });
}

/// Is dropped if the thread unwinds out of `drive`: a panic of the root future does so, or what is
/// to be told to the caller in the same way (`tell_caller`). A panic of gmp's own code must not, as
/// in the threads of the other flavour.
struct OnlyPollsUnwind<'a>(&'a Local);

impl Drop for OnlyPollsUnwind<'_> {
    fn drop(&mut self) {
        let local = self.0;
        if local.machine.ownership.enter().0 == Region::Scheduler {
            abort();
        }
        // The machine is used again. What had to follow the poll follows here.
        observe::on(local, Event::PollEnd);
        local.deferred.wake_all();
    }
}

/// Calls `f`, which panics if the caller of `block_on` is to panic.
fn tell_caller<R>(local: &Local, f: impl FnOnce() -> R) -> R {
    local.machine.ownership.begin_section(Region::Poll);
    let result = f();
    let _ = local.machine.ownership.enter();
    result
}

/// The order of turns. It is tokio's, and sched/README.md §10 describes it in full.
fn drive(local: &Local, call: Call, root: &Root, is_ready: &mut dyn FnMut(&Root) -> bool) {
    let mut is_done = || root.is_woken() && !goes_last(local, call) && poll_as(local, call.name, || is_ready(root));
    if !is_done() {
        // Only now, because a future that is ready at once is not to pay for a reading of the clock.
        local.begin_busy(0);
        loop {
            turn(local, call, root);
            if is_done() {
                break;
            }
        }
    }
    // A task of a `LocalSet` may have yielded in the poll that has just ended.
    local.deferred.wake_all();
}

/// In a seeded run, tasks may come before a root future that was woken.
fn goes_last(local: &Local, call: Call) -> bool {
    let has_tasks = || !seeded::keeps_order() && local.scheduler.processors[0].has_work();
    seeded::is_on() && seeded::root_goes_last(call.name.id.as_u64(), has_tasks())
}

/// What comes between two polls of the root future.
fn turn(local: &Local, call: Call, root: &Root) {
    if local.scheduler.is_shutdown() {
        shutdown::leave(local);
        local.deferred.wake_all();
        tell_caller(local, || panic_if_task_has(&local.scheduler));
        wait_for(local, root);
    } else if run_batch(local) || has_yielded(local, root) {
        look(local);
    } else {
        fail_if_deadlocked(local, call, root);
        sleep_or_fail(local, call, root);
    }
}

/// Polls the root future, as a poll of this name. Returns whether it is ready.
fn poll_as(local: &Local, name: RootName, is_ready: impl FnOnce() -> bool) -> bool {
    observe::before_root_poll(local, name);
    local.machine.ownership.begin(Region::Poll);
    panic_if_task_has(&local.scheduler);
    let is_ready = is_ready();
    let _ = local.machine.ownership.enter();
    observe::after_root_poll(local, is_ready);
    is_ready
}

/// Only a call that borrows the runtime may find that no wake-up can come (`lost::deadlock`).
fn fail_if_deadlocked(local: &Local, call: Call, root: &Root) {
    let Some(describe) = local.scheduler.config.deadlock else { return };
    let Some(observer) = root.observer().filter(|_| call.may_fail()) else { return };
    if let Some(lost) = lost::find_deadlock(&local.scheduler, observer) {
        tell_caller(local, || panic!("{}", describe(&local.scheduler, lost)));
    }
}

/// After shutdown: there are no tasks, timers or descriptors left to look at, so only the root
/// future is waited for.
fn wait_for(local: &Local, root: &Root) {
    let woken = local.scheduler.vacant.listen();
    if !root.is_woken() {
        woken.wait();
    }
}

/// Runs as many tasks as may run between two looks at the network, timers and the root future.
/// Returns whether there may be more.
fn run_batch(local: &Local) -> bool {
    observe::on_look_around(local, 0);
    if local.unusual.is_any(AT_POLL) {
        return run_batch_with(local, |task| poll_observed(local, task));
    }
    run_batch_with(local, |task| poll(local, task, Region::Poll))
}

#[inline(always)]
fn run_batch_with(local: &Local, poll: impl Fn(Runnable)) -> bool {
    for _ in 0..local.scheduler.config.event_interval {
        let Some(task) = next(local) else { return false };
        poll(mixed(local, task));
    }
    true
}

/// One task from the global queue at a time: the tasks that it wakes go before the next one.
fn next(local: &Local) -> Option<Runnable> {
    let held = local.held()?;
    let is_global_first = held.processor.is_look_due(&held.proof) && is_global_turn(local, &held);
    let first = if is_global_first { pop_global(local) } else { None };
    first.or_else(|| held.processor.pop_oldest(&held.proof)).or_else(|| pop_global(local))
}

fn pop_global(local: &Local) -> Option<Runnable> {
    observe::on(local, Event::Search);
    local.scheduler.global.pop_one()
}

#[cold]
fn is_global_turn(local: &Local, held: &Held<'_>) -> bool {
    let interval = local.scheduler.config.global_queue_interval;
    held.processor.schedule_look(&held.proof, [interval]);
    held.processor.ticks() % interval == 0
}

/// Whether a future has yielded, or the root future was woken: the thread must not sleep.
fn has_yielded(local: &Local, root: &Root) -> bool {
    !local.deferred.is_empty() || root.is_woken()
}

/// Looks at the network and the timers in passing.
fn look(local: &Local) {
    let ready = local.scheduler.netpoll_gate.look(local);
    wake(local, or_tell_caller(local, ready));
}

/// Wakes the futures that wait for descriptors, for timers, and for their turn after a yield, in
/// that order.
fn wake(local: &Local, ready: Vec<Runnable>) {
    queue(local, ready);
    local.scheduler.clock.note_look();
    fire_timers(local);
    local.deferred.wake_all();
}

/// Also only for a call that borrows the runtime.
fn sleep_or_fail(local: &Local, call: Call, root: &Root) {
    let before = Before::sleep(&local.scheduler).filter(|_| call.may_fail());
    sleep(local, root, before.as_ref().map(Before::limit));
    if let Some(before) = before {
        tell_caller(local, || before.fail_if_silent(&local.scheduler, || has_yielded(local, root)));
    }
}

/// Sleeps in the netpoll until a task, a timer, a descriptor or the root future is ready. `limit`:
/// how long at most, if there is no timer.
fn sleep(local: &Local, root: &Root, limit: Option<Duration>) {
    let scheduler = &local.scheduler;
    let role = scheduler.idle.go_idle(None, &local.machine, false);
    local.machine.sleep_until.announce();
    let ready = if role == Role::Exit || must_not_sleep(local, root) {
        local.machine.sleep_until.retract();
        Ok(Vec::new())
    } else {
        park(local, root, limit)
    };
    scheduler.idle.unlist(&local.machine);
    if scheduler.config.is_watched {
        scheduler.sysmon.notice_busy(&scheduler.idle);
    }
    wake(local, or_tell_caller(local, ready));
}

fn or_tell_caller(local: &Local, ready: Ready) -> Vec<Runnable> {
    ready.unwrap_or_else(|error| tell_caller(local, || or_panic(Err(error))))
}

fn park(local: &Local, root: &Root, limit: Option<Duration>) -> Ready {
    let scheduler = &local.scheduler;
    let processor = &scheduler.processors[0];
    processor.counters.count_park();
    processor.busy.end(scheduler.clock.running_ns());
    observe::on(local, Event::ParkInNetpoll);
    call(&scheduler.config.hooks.on_park);
    // The hook may have spawned or woken a task, or yielded.
    let ready = if processor.has_work() || has_yielded(local, root) || must_not_sleep(local, root) {
        local.machine.sleep_until.retract();
        scheduler.netpoll_gate.look(local)
    } else {
        match advance_clock(local, root) {
            Ok(false) => scheduler.netpoll_gate.sleep(local, deadline(scheduler, limit)),
            advanced => {
                local.machine.sleep_until.retract();
                advanced.map(|_| Vec::new())
            }
        }
    };
    observe::on(local, Event::UnparkWithProcessor);
    call(&scheduler.config.hooks.on_unpark);
    processor.busy.begin(scheduler.clock.running_ns());
    ready
}

/// `u64::MAX`: none.
fn deadline(scheduler: &Scheduler, limit: Option<Duration>) -> u64 {
    match (scheduler.next_timer(), limit) {
        (u64::MAX, Some(limit)) => scheduler.clock.now_ns().saturating_add(limit.as_nanos() as u64),
        (next, _) => next,
    }
}

fn must_not_sleep(local: &Local, root: &Root) -> bool {
    root.is_woken() || !local.scheduler.global.is_empty() || local.scheduler.is_shutdown()
}

fn queue(local: &Local, ready: Vec<Runnable>) {
    if let Some(held) = local.held() {
        held.processor.counters.local_schedules.add(ready.len() as u64);
        ready.into_iter().for_each(|task| held.processor.push_newest(&held.proof, task));
    }
}

/// A paused clock does not wait: it jumps to the next timer, unless a blocking closure may still
/// set an earlier timer or wake a task.
fn advance_clock(local: &Local, root: &Root) -> io::Result<bool> {
    let scheduler = &local.scheduler;
    if !scheduler.clock.is_paused() {
        return Ok(false);
    }
    let ready = scheduler.netpoll_gate.look(local)?;
    if !ready.is_empty() {
        queue(local, ready);
        return Ok(true);
    }
    // On a real loopback interface they would be there by now.
    if seeded::wait_for_packet() {
        return Ok(true);
    }
    let next = scheduler.next_timer();
    if next == u64::MAX || scheduler.closures.permits.held() > 0 {
        return Ok(false);
    }
    // A closure wakes its task first and ends second: the task that the last closure woke goes
    // before the timer.
    if must_not_sleep(local, root) {
        return Ok(true);
    }
    Ok(scheduler.clock.advance(Duration::from_nanos(next.saturating_sub(scheduler.clock.now_ns()))).is_ok())
}
