//! Submitting against giving up: a task is never published while every machine goes to sleep. A model in which that
//! happens ends in a deadlock, which loom reports.
//!
//! Seen to fail without the fence in `wake_one` or in `retire`, without the look after it, when processor and machine go
//! on their lists in two critical sections, and when the last spinner that finds work wakes nobody.

use loom::thread;

use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Wake;
use crate::sched::submit;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{busy, list_a_sleeper, run_one, scheduler, task, without_processor};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, fence};

/// A thread from outside submits while the only machine retires, and becomes the poller.
#[test]
fn loom_parking_submit_against_parking_in_the_netpoll() {
    explore(6, || {
        let scheduler = scheduler(1);
        let machine = busy(&scheduler).start(run_one);
        scheduler.submit_global([task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// The same, with the poller's seat taken.
#[test]
fn loom_parking_submit_against_parking_as_a_spare() {
    explore(6, || {
        let scheduler = scheduler(1);
        list_a_sleeper(&scheduler);
        let machine = busy(&scheduler).start(run_one);
        scheduler.submit_global([task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// A machine pushes to its ring, and then blocks for as long as nobody steals, while the other one retires. The task in
/// `runnext` counts for neither of them.
#[test]
fn loom_parking_push_against_parking() {
    explore(3, || {
        let scheduler = scheduler(2);
        let stolen = Gate::default();
        let [pushing, stealing] = [busy(&scheduler), busy(&scheduler)];
        let pushing = pushing.start(move |local| {
            let first = stolen.clone();
            submit(task(&local.scheduler, move || first.open()), false);
            submit(task(&local.scheduler, || ()), false);
            stolen.wait();
            run_one(local);
        });
        let stealing = stealing.start(run_one);
        pushing.join().unwrap();
        stealing.join().unwrap();
    });
}

/// Somebody is woken for a processor that another machine takes first: the spinner that was counted for it is none, and who
/// submits while that machine retires must not count on it. Seen to fail when it is discounted after the lock is released.
#[test]
fn loom_parking_wake_without_machine_against_submit() {
    explore(4, || {
        let scheduler = scheduler(1);
        let retiring = without_processor(&scheduler).machine();
        let is_work = Arc::new(AtomicBool::new(false));
        let in_vain = thread::spawn({
            let scheduler = scheduler.clone();
            move || wakes_somebody(&scheduler)
        });
        let sees_it = thread::spawn({
            let (scheduler, is_work) = (scheduler.clone(), is_work.clone());
            move || {
                let Some(token) = scheduler.idle.acquire(usize::MAX) else { return false };
                let _ = scheduler.idle.go_idle(Some(token), &retiring, false);
                fence(SeqCst);
                is_work.load(Relaxed)
            }
        });
        is_work.store(true, Relaxed);
        fence(SeqCst);
        let woke = wakes_somebody(&scheduler);
        assert!(in_vain.join().unwrap() | sees_it.join().unwrap() | woke);
    });
}

fn wakes_somebody(scheduler: &Scheduler) -> bool {
    scheduler.idle.should_wake() && !matches!(scheduler.idle.wake_spinner(), Wake::Nobody)
}
