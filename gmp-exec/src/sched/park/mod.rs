//! Parking a machine that has found no work (Go: `stopm`).
//!
//! The machine returns its processor, looks at every queue once more, and sleeps. This is the other
//! half of `wake_one` (sched/README.md §4): whatever makes `submit` wake a machine must
//! make a machine come back from here, or a task waits beside a sleeping machine. One machine
//! sleeps in the netpoll, where descriptors and timers wake it. The others sleep until a waker
//! assigns them a processor.

pub(in crate::sched) mod netpoll;

use std::time::Instant;

use crate::observe::{self, Event};
use crate::sched::hogs::time_slice;
use crate::sched::local::{Local, Next};
use crate::sched::park::netpoll::or_panic;
use crate::sched::shutdown;
use crate::sched::state::idle::{Rejoin, Role};
use crate::sched::state::machine::Assignment;
use crate::sched::state::machine::ownership::ProcessorToken;
use crate::sched::state::sysmon::Level;
use crate::sched::state::threads::call;
use crate::sched::state::unusual::SPINS;
use crate::sched::submit::inject;
use crate::sched::submit::wake::{announce_timer, ask_once_more, submit_global, wake_one};
use crate::sync::atomic::Ordering::SeqCst;
use crate::sync::atomic::fence;
use crate::task::Runnable;

/// Returns the processor, looks once more, and sleeps.
#[doc(alias = "stopm")]
#[doc(alias = "releasep")]
pub(in crate::sched) fn park(local: &Local) -> Next {
    let scheduler = &local.scheduler;
    let token = local.machine.ownership.release();
    if let Some(token) = &token {
        observe::on(local, Event::Release(token));
        scheduler.processors[token.index()].park(scheduler.clock.running_ns());
    }
    let role = scheduler.idle.go_idle(token, &local.machine, local.unusual.take(SPINS));
    if role == Role::Exit {
        shutdown::leave(local);
        return Next::Exit;
    }
    fence(SeqCst);
    if scheduler.has_visible_work()
        && let Rejoin::Run(token) = scheduler.idle.rejoin(&local.machine)
    {
        resume(local, token, true);
        return Next::Look;
    }
    // If every processor has a machine, those will see the work. If this machine was assigned something,
    // it takes that where it would have slept.
    sleep(local, role)
}

/// Finds a processor for a machine that has none: an idle one, or the one that a waker assigns.
pub(in crate::sched) fn obtain_processor(local: &Local) -> Next {
    let scheduler = &local.scheduler;
    if let Some(token) = scheduler.idle.acquire() {
        local.acquire(token);
        scheduler.sysmon.notice_busy(&scheduler.idle);
        return Next::Look;
    }
    let role = scheduler.idle.go_idle(None, &local.machine, local.unusual.take(SPINS));
    ask_once_more(scheduler);
    sleep(local, role)
}

/// Sleeps on the list that `idle` has put the machine on.
pub(in crate::sched) fn sleep(local: &Local, role: Role) -> Next {
    match role {
        Role::Exit => Next::Exit,
        Role::Spare => park_as_spare(local),
        Role::Sleeper => sleep_in_netpoll(local),
    }
}

/// The machine gets a processor that was idle.
fn resume(local: &Local, token: ProcessorToken, spins: bool) {
    local.acquire(token);
    local.unusual.set(SPINS, spins);
    local.scheduler.sysmon.notice_busy(&local.scheduler.idle);
}

/// Sleeps until a waker assigns something.
pub(in crate::sched) fn park_as_spare(local: &Local) -> Next {
    let scheduler = &local.scheduler;
    // The machine in the netpoll may not know of a timer of this machine's processor.
    let earliest = scheduler.earliest_timer();
    if earliest != u64::MAX {
        announce_timer(scheduler, earliest);
    }
    time_slice::adapt(local);
    call(&scheduler.config.hooks.on_park);
    observe::on(local, Event::Park);
    let assignment = wait_for_assignment(local);
    observe::on(local, Event::Unpark);
    call(&scheduler.config.hooks.on_unpark);
    match assignment {
        Some(assignment) => local.accept(assignment),
        None => Next::Exit,
    }
}

/// `None`: there are more machines than processors, and nothing was assigned to this machine during
/// its keep-alive.
fn wait_for_assignment(local: &Local) -> Option<Assignment> {
    let scheduler = &local.scheduler;
    let keep = scheduler.idle.active();
    let keep_alive = scheduler.config.threads.keep_alive;
    let since = Instant::now();
    loop {
        // Asked at every turn: if the others have exited first, this machine sleeps without a
        // limit.
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

/// Sleeps until a descriptor is ready, a timer is due, or a waker assigns something.
pub(in crate::sched) fn sleep_in_netpoll(local: &Local) -> Next {
    let scheduler = &local.scheduler;
    local.machine.sleep_until.announce();
    if let Some(assignment) = local.machine.take_assignment() {
        local.machine.sleep_until.retract();
        return local.accept(assignment);
    }
    time_slice::adapt(local);
    call(&scheduler.config.hooks.on_park);
    observe::on(local, Event::ParkInNetpoll);
    let ready = or_panic(scheduler.netpoll_gate.sleep(local, scheduler.next_timer()));
    observe::on(local, Event::Unpark);
    call(&scheduler.config.hooks.on_unpark);
    leave_netpoll(local, ready)
}

fn leave_netpoll(local: &Local, ready: Vec<Runnable>) -> Next {
    let scheduler = &local.scheduler;
    // A due timer is work found, as a ready descriptor is. A spinner that finds work wakes the next
    // one. For a timer that wakes one task, that would be two thread switches for nothing.
    let spin = ready.is_empty() && scheduler.earliest_timer() > scheduler.clock.now_ns();
    match scheduler.idle.leave_netpoll(&local.machine, spin) {
        Rejoin::Run(token) => {
            resume(local, token, spin);
            let has_tasks = !ready.is_empty();
            let next = inject_ready(local, ready);
            // This machine is about to run a task, which may hold its thread. If such polls are likely,
            // another machine shall sleep here instead (sched/README.md §6).
            if has_tasks && scheduler.sysmon.expects(Level::LongPolls) {
                wake_one(scheduler);
            }
            next
        }
        Rejoin::Assigned => {
            let assignment =
                local.machine.take_assignment().expect("a machine is assigned something before it is unlisted");
            match (local.accept(assignment), inject_ready(local, ready)) {
                (Next::Exit, _) => Next::Exit,
                (_, next) => next,
            }
        }
        Rejoin::NoProcessor => {
            if !ready.is_empty() {
                submit_global(scheduler, ready);
            }
            ask_once_more(scheduler);
            park_as_spare(local)
        }
    }
}

fn inject_ready(local: &Local, ready: Vec<Runnable>) -> Next {
    let first = match local.held() {
        Some(held) => inject(local, &held, ready),
        None => {
            submit_global(&local.scheduler, ready);
            None
        }
    };
    first.map_or(Next::Look, Next::Run)
}
