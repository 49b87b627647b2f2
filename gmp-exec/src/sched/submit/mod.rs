//! Where a task goes when it is spawned or woken (Go: `ready`, `newproc`).
//!
//! On a machine with a processor the task goes into `runnext`. A task that was there moves to the
//! ring, and that push wakes another machine. A push that only fills `runnext` wakes none: the
//! owner will run the task, and if the owner is stuck sysmon takes its processor (Go wakes a
//! machine here; measured, that doubles mpsc_128 and mpsc_1, because the two tasks are run on two
//! cores). A task that has yielded goes to the tail of the ring. On the current-thread flavour
//! every task does: tokio has no slot before its queue there, and programs rely on that order.
//!
//! Everywhere else the task goes into the global queue: on a thread that is no machine of this
//! scheduler, and on a machine without a processor. A thread without a processor never touches a
//! ring.

pub(crate) mod head_room;
pub(crate) mod threads;
pub(crate) mod wake;

use crate::sched::local::{Held, Local};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::sysmon::Level;
use crate::sched::state::unusual::{AT_SUBMIT, COLLECTS};
use crate::sched::submit::wake::{submit_global, wake_one, wake_one_unfenced};
use crate::sync::Arc;
use crate::task::{Home, Runnable};
use crate::{context, observe};

/// Queues a task that has become scheduled. `yielded`: the task was woken during its own poll.
/// With a second caller it would not be inlined into the first, and a wake would take 30 instructions
/// more: others call async-task's `schedule`.
#[inline]
pub(crate) fn submit(task: Runnable, yielded: bool) {
    let task = context::with_machine(|local| match (local, &*task.metadata().home) {
        (Some(local), Home::Scheduler(home)) if Arc::ptr_eq(home, &local.scheduler) => {
            submit_here(local, task, yielded)
        }
        _ => Some(task),
    });
    if let Some(task) = task {
        submit_elsewhere(task);
    }
}

/// Counts and queues a new task of `scheduler`'s, which the caller keeps alive.
#[inline]
pub(crate) fn submit_new(scheduler: &Arc<Scheduler>, task: Runnable) {
    let task = context::with_machine(|local| {
        let local = local.filter(|local| Arc::ptr_eq(&local.scheduler, scheduler));
        context::count_on(local, scheduler, |counters| &counters.spawned);
        match local {
            Some(local) => submit_here(local, task, false),
            None => Some(task),
        }
    });
    if let Some(task) = task {
        submit_outside(scheduler, task);
    }
}

/// Returns the task if the machine holds no processor.
#[inline]
fn submit_here(local: &Local, task: Runnable, yielded: bool) -> Option<Runnable> {
    let guard = local.enter();
    let held = guard.held();
    let task = if local.unusual.is_any(AT_SUBMIT) { take_detour(local, task, yielded, held.is_some())? } else { task };
    let Some(held) = held else { return Some(task) };
    held.processor.counters.local_schedules.add(1);
    if local.is_current_thread {
        held.processor.push_newest(&held.proof, task);
    } else if yielded {
        push_yielded(&local.scheduler, &held, task);
        held.processor.note_yield(&held.proof);
    } else if push(local, &held, task) {
        wake_one(&local.scheduler);
    }
    None
}

/// The task's scheduling is observed, or the task is collected. Returns the task unless it was
/// collected.
#[cold]
fn take_detour(local: &Local, task: Runnable, yielded: bool, has_processor: bool) -> Option<Runnable> {
    let is_collected = local.unusual.is_any(COLLECTS);
    // Without a processor the task is refused here, and queued elsewhere.
    if has_processor || is_collected {
        observe::on_schedule(local, task.metadata(), yielded);
    }
    if !is_collected {
        return Some(task);
    }
    local.ready.borrow_mut().push(task);
    None
}

/// Returns whether a task went to the ring, so that the caller must wake a machine.
#[inline]
fn push(local: &Local, held: &Held<'_>, task: Runnable) -> bool {
    if !local.has_runnext {
        push_tail(&local.scheduler, held, task)
    } else if held.processor.is_streak_over(&held.proof) {
        push_after_streak(&local.scheduler, held, task)
    } else {
        push_next(&local.scheduler, held, task)
    }
}

/// Needs no fence: the owner is about to look at its queue itself. A machine that goes idle at this
/// moment may miss the task; the next yield, or the next turn on which the owner looks around,
/// wakes one. A task that yields alone wakes no machine: its owner runs it again at once (Go
/// #13527).
#[inline]
fn push_yielded(scheduler: &Arc<Scheduler>, held: &Held<'_>, task: Runnable) {
    if push_tail(scheduler, held, task) && held.processor.has_work_to_share(&held.proof) {
        wake_one_unfenced(scheduler);
    }
}

#[cold]
fn submit_elsewhere(task: Runnable) {
    let Home::Scheduler(scheduler) = &*task.metadata().home else { unreachable!("a local task goes to its set") };
    // The task may run and be freed as soon as it is queued, so the scheduler is kept alive here.
    let scheduler = scheduler.clone();
    submit_outside(&scheduler, task);
}

#[cold]
fn submit_outside(scheduler: &Arc<Scheduler>, task: Runnable) {
    let n = context::outside(scheduler).remote_schedules.next_shared();
    observe::on_schedule_elsewhere(scheduler, task.metadata(), n as u32);
    // `Some`, because an array takes 60 instructions more.
    submit_global(scheduler, Some(task));
}

/// `runnext` was used too often in a row. With one processor the task goes behind the others, as on
/// tokio. With more processors it stays in `runnext`: a push to the ring would wake another
/// machine, which would separate the two tasks.
#[cold]
fn push_after_streak(scheduler: &Arc<Scheduler>, held: &Held<'_>, task: Runnable) -> bool {
    if scheduler.idle.active() > 1 {
        return push_next(scheduler, held, task);
    }
    push_tail(scheduler, held, task);
    false
}

#[inline]
fn push_next(scheduler: &Arc<Scheduler>, held: &Held<'_>, task: Runnable) -> bool {
    match held.processor.runnext.replace(&held.proof, task) {
        None => false,
        Some(displaced) => push_tail(scheduler, held, displaced),
    }
}

/// Pushes a task to the ring, or into the global queue if the ring is full. Returns whether the
/// ring had a free slot. If it had none, a machine was woken already.
#[doc(alias = "runqput")]
#[inline]
pub(in crate::sched) fn push_tail(scheduler: &Arc<Scheduler>, held: &Held<'_>, task: Runnable) -> bool {
    match held.processor.queue.push(&held.proof, task) {
        Ok(()) => true,
        Err(task) => {
            overflow(scheduler, held, task);
            false
        }
    }
}

/// The ring is full: its older half and `task` move to the global queue, under one lock.
#[doc(alias = "runqputslow")]
#[cold]
fn overflow(scheduler: &Arc<Scheduler>, held: &Held<'_>, task: Runnable) {
    let processor = held.processor;
    match processor.queue.pop_half(&held.proof) {
        Some(half) => {
            processor.counters.overflows.add(1);
            submit_global(scheduler, half.into_iter().chain([task]));
        }
        // Thieves have emptied slots since.
        None => {
            if let Err(task) = processor.queue.push(&held.proof, task) {
                submit_global(scheduler, [task]);
            } else {
                wake_one(scheduler);
            }
        }
    }
}

/// Queues a batch of ready tasks and returns the first of them, to be run now. The second goes into
/// `runnext`, as the task that a poll wakes does, and wakes no machine: most polls end sooner than
/// another machine begins. Where polls are long, it goes to the ring as the others do.
#[doc(alias = "injectglist")]
pub(in crate::sched) fn inject(local: &Local, held: &Held<'_>, ready: Vec<Runnable>) -> Option<Runnable> {
    held.processor.counters.local_schedules.add(ready.len() as u64);
    let mut ready = ready.into_iter();
    let first = ready.next();
    let second = if local.scheduler.sysmon.expects(Level::LongPolls) { None } else { ready.next() };
    let mut published = second.is_some_and(|task| push(local, held, task));
    for task in ready {
        published |= push_tail(&local.scheduler, held, task);
    }
    if published {
        wake_one(&local.scheduler);
    }
    first
}
