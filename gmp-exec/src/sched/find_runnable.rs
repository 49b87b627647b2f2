//! The order of looking, nothing else.
//!
//! Every turn: own queue first. Every `global_queue_interval` turns the global queue comes before it, every
//! `event_interval` turns timers and the network do, and own timers every 8, so that a busy processor can't starve them.
//! Turns are counted also when `runnext` inherits (Go #52934). With nothing of its own the machine looks at timers, the
//! global queue, the network, and other processors' rings; then it retires: it gives its processor up, looks at
//! everything once more, and sleeps, in the poller if nobody does, else parked. What makes this file wake up and what
//! makes `submit` wake somebody must be the same things.

use super::idle::{Rejoin, Role};
use super::local_queue::{CAPACITY, HALF};
use super::machine::{Held, Local};
use super::run::{accept, obtain_processor};
use super::submit::{inject, push_tail};
use super::{shutdown, steal};
use crate::sync::atomic::{Ordering::SeqCst, fence};
use crate::task::Runnable;
use crate::time::timers::wake_all;
use std::time::Instant;

/// Turns between looks at the own timers, if there are any: a look costs a clock reading (about 20 ns).
const TIMER_INTERVAL: u32 = 8;

/// Finds a task to run, and sleeps while there is none. `None`: the machine must exit. With a task comes a processor.
#[inline]
pub(super) fn find_runnable(local: &Local) -> Option<Runnable> {
    loop {
        if let Some(task) = take_own(local) {
            return Some(task);
        }
        match look_further(local) {
            Retired::Again => {}
            Retired::Found(task) => return Some(task),
            Retired::Exit => return None,
        }
    }
}

/// What nearly every turn comes to.
#[inline]
fn take_own(local: &Local) -> Option<Runnable> {
    if local.scheduler.is_shutdown() {
        return None;
    }
    let sched = local.enter();
    next_own(local, &sched.held()?)
}

/// The processor has nothing of its own, or there is none, or the runtime ends. Not inlined, because what it needs would be
/// set up at every turn.
#[inline(never)]
fn look_further(local: &Local) -> Retired {
    if local.scheduler.is_shutdown() {
        shutdown::leave(local);
        return Retired::Exit;
    }
    let sched = local.enter();
    let Some(held) = sched.held() else {
        return if obtain_processor(local) { Retired::Again } else { Retired::Exit };
    };
    match search(local, &held) {
        Some(task) => Retired::Found(task),
        None => retire(local),
    }
}

/// What this processor has to run, and whatever it must look at now and then.
#[inline]
pub(super) fn next_own(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    look_if_due(local, held).or_else(|| held.processor.pop(&held.proof))
}

/// Begins a turn; on some of them something comes before the own queue.
#[inline]
pub(super) fn look_if_due(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    if held.processor.is_look_due(&held.proof) { look_around(local, held) } else { None }
}

/// A turn on which something comes before the own queue.
#[cold]
fn look_around(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let processor = held.processor;
    let config = &local.scheduler.config;
    let tick = processor.ticks();
    let is_yielding = processor.is_yielding_only(&held.proof);
    processor.schedule_look(&held.proof, [config.global_queue_interval, config.event_interval, TIMER_INTERVAL]);
    if is_yielding || tick % config.event_interval == 0 {
        fire_timers(local);
        queue_ready(local, held, local.scheduler.poller.look(local));
        if processor.has_work_to_share(&held.proof) {
            local.scheduler.wake_one();
        }
    } else if tick % TIMER_INTERVAL == 0 && processor.timers.earliest() != u64::MAX {
        fire_own_timers(local, held);
    }
    if tick % config.global_queue_interval == 0 { take_global(local, held) } else { None }
}

/// Appends tasks that became ready to the ring. The caller tells others.
pub(super) fn queue_ready(local: &Local, held: &Held<'_>, ready: Vec<Runnable>) {
    for task in ready {
        push_tail(&local.scheduler, held, task);
    }
}

/// Everything else, in order.
fn search(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    fire_timers(local);
    held.processor
        .pop(&held.proof)
        .or_else(|| take_global(local, held))
        .or_else(|| look_at_network(local, held))
        .or_else(|| steal_some(local, held))
}

fn steal_some(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    if local.scheduler.processors.len() == 1 {
        return None;
    }
    if !local.spinning.get() {
        if !local.scheduler.idle.try_spin(local.scheduler.processors.len()) {
            return None;
        }
        local.spinning.set(true);
    }
    steal::steal(local, held)
}

/// This processor's share of the global queue: one to run, the rest into the ring. One alone would starve the queue
/// behind a task that yields (measured: 2 300 ns a task instead of 160).
#[inline]
pub(super) fn take_global(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    let scheduler = &local.scheduler;
    if scheduler.global.is_empty() {
        return None;
    }
    let room = CAPACITY - held.processor.queue.len();
    let mut kept = false;
    let first = scheduler.global.pop(scheduler.processors.len(), room.min(HALF), |task| {
        let pushed = held.processor.push(&held.proof, task);
        debug_assert!(matches!(pushed, super::local_queue::Push::Done), "there is room, and only the owner pushes");
        kept = true;
    });
    if kept {
        scheduler.wake_one();
    }
    first
}

pub(super) fn look_at_network(local: &Local, held: &Held<'_>) -> Option<Runnable> {
    inject(&local.scheduler, held, local.scheduler.poller.look(local))
}

/// Fires every processor's due timers: an idle processor's have nobody else, and a stuck one's must not wait.
pub(super) fn fire_timers(local: &Local) {
    let scheduler = &local.scheduler;
    let earliest = scheduler.earliest_timer();
    if earliest == u64::MAX {
        return;
    }
    let now = scheduler.clock.now_ns();
    if earliest > now {
        return;
    }
    let mut fired = Vec::new();
    for processor in &scheduler.processors {
        if processor.timers.earliest() <= now {
            processor.timers.expire(now, &mut fired);
        }
    }
    wake_all(fired);
}

fn fire_own_timers(local: &Local, held: &Held<'_>) {
    let timers = &held.processor.timers;
    let now = local.scheduler.clock.now_ns();
    if timers.earliest() <= now {
        let mut fired = Vec::new();
        timers.expire(now, &mut fired);
        wake_all(fired);
    }
}

enum Retired {
    /// Look again, with a processor or as a spare that was sent for.
    Again,
    Found(Runnable),
    Exit,
}

/// The other half of `Scheduler::wake_one`: gives up, and then looks once more.
fn retire(local: &Local) -> Retired {
    let scheduler = &local.scheduler;
    let token = local.machine.ownership.release();
    if let Some(token) = &token {
        scheduler.processors[token.index()].park(scheduler.clock.running_ns());
    }
    let role = scheduler.idle.retire(token, &local.machine, local.spinning.replace(false));
    if role == Role::Exit {
        shutdown::leave(local);
        return Retired::Exit;
    }
    fence(SeqCst);
    if scheduler.has_visible_work() && rejoin(local) {
        return Retired::Again;
    }
    let on = match role {
        Role::Poller => sleep_in_poller_with_tasks(local),
        _ => (park_as_spare(local), None),
    };
    match on {
        (false, _) => Retired::Exit,
        (true, None) => Retired::Again,
        (true, Some(task)) => Retired::Found(task),
    }
}

/// Work was seen: back to a processor, as a spinner. `false`: there is none, whoever holds them will see the work.
fn rejoin(local: &Local) -> bool {
    match local.scheduler.idle.rejoin(&local.machine, true) {
        Rejoin::Run(token) => {
            local.acquire(token);
            local.spinning.set(true);
            true
        }
        // The assignment is taken where the machine would have slept.
        Rejoin::Assigned | Rejoin::NoProcessor => false,
    }
}

/// Parks until somebody sends for the machine. `false`: exit.
pub(super) fn park_as_spare(local: &Local) -> bool {
    let scheduler = &local.scheduler;
    // The sleeper in the poller may not know of a timer that this machine's processor has.
    let earliest = scheduler.earliest_timer();
    if earliest != u64::MAX {
        scheduler.announce_timer(earliest);
    }
    let keep = scheduler.processors.len();
    let surplus = scheduler.idle.snapshot().machines > keep;
    let since = Instant::now();
    let keep_alive = scheduler.config.threads.keep_alive;
    scheduler.config.hooks.parking();
    let assignment = loop {
        let left = surplus.then(|| keep_alive.saturating_sub(since.elapsed()));
        if let Some(assignment) = local.machine.park(left) {
            break Some(assignment);
        }
        if surplus && since.elapsed() >= keep_alive && scheduler.idle.try_exit(&local.machine, keep) {
            break None;
        }
    };
    scheduler.config.hooks.unparked();
    assignment.is_some_and(|assignment| accept(local, assignment))
}

/// For a machine that had no processor when it became the poller.
pub(super) fn sleep_in_poller(local: &Local) -> bool {
    let (go_on, task) = sleep_in_poller_with_tasks(local);
    if let Some(task) = task {
        local.scheduler.submit_global([task]);
    }
    go_on
}

/// Sleeps until a descriptor is ready, a timer is due, or somebody sends for the machine. `(false, _)`: exit.
fn sleep_in_poller_with_tasks(local: &Local) -> (bool, Option<Runnable>) {
    let scheduler = &local.scheduler;
    local.machine.until.announce();
    if let Some(assignment) = local.machine.take_assignment() {
        local.machine.until.retract();
        return (accept(local, assignment), None);
    }
    scheduler.config.hooks.parking();
    let ready = scheduler.poller.sleep(local, scheduler.next_timer(), || scheduler.clock.now_ns());
    scheduler.config.hooks.unparked();
    leave_poller(local, ready)
}

fn leave_poller(local: &Local, ready: Vec<Runnable>) -> (bool, Option<Runnable>) {
    let scheduler = &local.scheduler;
    let spin = ready.is_empty();
    match scheduler.idle.leave_poller(&local.machine, spin) {
        Rejoin::Run(token) => {
            local.acquire(token);
            local.spinning.set(spin);
            scheduler.sysmon.notice_busy();
            (true, inject_ready(local, ready))
        }
        Rejoin::Assigned => {
            let assignment = local.machine.take_assignment().expect("who takes a machine off its list assigns first");
            if accept(local, assignment) {
                (true, inject_ready(local, ready))
            } else {
                scheduler.submit_global(ready);
                (false, None)
            }
        }
        Rejoin::NoProcessor => {
            if !ready.is_empty() {
                scheduler.submit_global(ready);
            }
            (park_as_spare(local), None)
        }
    }
}

fn inject_ready(local: &Local, ready: Vec<Runnable>) -> Option<Runnable> {
    let sched = local.enter();
    match sched.held() {
        Some(held) => inject(&local.scheduler, &held, ready),
        None => {
            local.scheduler.submit_global(ready);
            None
        }
    }
}
