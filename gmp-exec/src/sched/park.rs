//! Giving up on finding work: the processor goes back, the machine looks at everything once more, and sleeps.
//!
//! The other half of `Scheduler::wake_one` (README, "Parking"): what makes a machine come back from here and what makes
//! `submit` wake somebody must be the same things, or a task waits beside a machine that sleeps. One machine sleeps in the
//! poller, where descriptors and timers wake it; the others park until somebody sends for them.

use std::time::Instant;

use crate::sched::local::Local;
use crate::sched::run::accept;
use crate::sched::shutdown;
use crate::sched::state::idle::{Rejoin, Role};
use crate::sched::state::machine::Assignment;
use crate::sched::submit::inject;
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::Runnable;

/// What comes after giving up.
#[must_use]
pub(super) enum Retired {
    /// Look again, with a processor or as a spare that was sent for.
    Again,
    Found(Runnable),
    Exit,
}

/// Gives up, looks once more, and sleeps.
pub(super) fn retire(local: &Local) -> Retired {
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

/// A machine without a processor: takes an idle one, or waits until somebody assigns one. `false`: exit.
pub(super) fn obtain_processor(local: &Local) -> bool {
    let scheduler = &local.scheduler;
    if let Some(token) = scheduler.idle.acquire(usize::MAX) {
        local.acquire(token);
        scheduler.notice_busy();
        return true;
    }
    let role = scheduler.idle.retire(None, &local.machine, local.spinning.replace(false));
    ask_once_more(local);
    match role {
        Role::Exit => false,
        Role::Spare => park_as_spare(local),
        Role::Poller => sleep_in_poller(local),
    }
}

/// The machine is on a list, and whoever came with work before found no machine for a processor. Now there is one, though it
/// may be another one by the time.
fn ask_once_more(local: &Local) {
    fence(SeqCst);
    if local.scheduler.has_due_work() && !local.scheduler.take_from_sleeper() {
        local.scheduler.wake_one_unfenced();
    }
}

/// Work was seen: back to a processor, as a spinner. `false`: there is none, whoever holds them will see the work.
fn rejoin(local: &Local) -> bool {
    match local.scheduler.idle.rejoin(&local.machine, true) {
        Rejoin::Run(token) => {
            local.acquire(token);
            local.spinning.set(true);
            local.scheduler.notice_busy();
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
    scheduler.config.hooks.parking();
    let assignment = wait_for_assignment(local);
    scheduler.config.hooks.unparked();
    assignment.is_some_and(|assignment| accept(local, assignment))
}

/// `None`: there are more machines than processors, and nobody has sent for this one during its keep-alive.
fn wait_for_assignment(local: &Local) -> Option<Assignment> {
    let scheduler = &local.scheduler;
    let keep = scheduler.processors.len();
    let keep_alive = scheduler.config.threads.keep_alive;
    let since = Instant::now();
    loop {
        // Asked anew each time: the others may have left first, and then this one sleeps on without a limit.
        let is_surplus = scheduler.idle.snapshot().machines > keep && !local.machine.is_kept();
        let left = is_surplus.then(|| keep_alive.saturating_sub(since.elapsed()));
        if let Some(assignment) = local.machine.park(left) {
            return Some(assignment);
        }
        if is_surplus && since.elapsed() >= keep_alive && scheduler.idle.try_exit(&local.machine, keep) {
            return None;
        }
    }
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
    // A due timer is work found, as a ready descriptor is. A spinner that finds work calls for the next one, and for a timer
    // that wakes one task that would be two thread switches in vain.
    let spin = ready.is_empty() && scheduler.earliest_timer() > scheduler.clock.now_ns();
    match scheduler.idle.leave_poller(&local.machine, spin) {
        Rejoin::Run(token) => {
            local.acquire(token);
            local.spinning.set(spin);
            scheduler.notice_busy();
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
            ask_once_more(local);
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
