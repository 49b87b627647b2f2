//! Submitters against parking machines: a task is never published while every machine goes to
//! sleep. If that happens the model deadlocks, which loom reports.
//!
//! Seen to fail without the fence in `wake_one` or in `park`, without the look after it, and when
//! processor and machine go on their lists in two critical sections.

use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use loom::thread;

use crate::sched::config::{Config, Flavor};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::idle::Wake;
use crate::sched::state::unusual::SPINS;
use crate::sched::submit::wake::submit_global;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{
    busy, config, list_a_sleeper, list_a_spare, run_one, scheduler, task, without_processor,
};
use crate::sched::{run, submit};
use crate::sync::Arc;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, fence};

/// A thread from outside submits while the only machine parks and becomes the sleeper.
#[test]
fn loom_parking_submit_against_parking_in_the_netpoll() {
    explore(6, || {
        let scheduler = scheduler(1);
        let machine = busy(&scheduler).start(run_one);
        submit_global(&scheduler, [task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// The same beside a spare, which must not get the last processor: the sleeper would stay in the
/// netpoll, and its next event would find no processor. Seen to fail when wakers prefer the spare.
#[test]
fn loom_parking_submit_against_parking_in_the_netpoll_beside_a_spare() {
    explore(6, || {
        let scheduler = scheduler(1);
        list_a_spare(&scheduler);
        let machine = busy(&scheduler).start(run_one);
        submit_global(&scheduler, [task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// The same when another machine is already the sleeper.
#[test]
fn loom_parking_submit_against_parking_as_a_spare() {
    explore(6, || {
        let scheduler = scheduler(1);
        list_a_sleeper(&scheduler);
        let machine = busy(&scheduler).start(run_one);
        submit_global(&scheduler, [task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// A machine pushes to its ring and then blocks until a thief has stolen, while the other machine
/// parks. Neither of them counts the task in `runnext`.
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

/// A thief that does not spin moves two tasks of three, and the one that it runs blocks until the other
/// machine has run the other two. That machine may park while the second is in neither ring. Seen to fail
/// when the thief does not wake a machine for the second.
#[test]
fn loom_parking_moving_tasks_against_parking() {
    explore(2, || {
        let scheduler = Scheduler::new(Config { has_runnext: false, ..config(3, Flavor::MultiThread) });
        let (thief, ran) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let gates = [Gate::default(), Gate::default()];
        // In this order, because the thief's random number has to be that of the robbed ring.
        let [robbed, parking, stealing] = [busy(&scheduler), busy(&scheduler), busy(&scheduler)];
        let robbed = robbed.start({
            let thief = thief.clone();
            move |local| {
                for _ in 0..3 {
                    let (thief, ran, gates) = (thief.clone(), ran.clone(), gates.clone());
                    let body = move || match thief.get() == Some(&thread::current().id()) {
                        true => gates.iter().for_each(Gate::wait),
                        false => gates[ran.fetch_add(1, Relaxed)].open(),
                    };
                    submit(task(&local.scheduler, body), false);
                }
            }
        });
        robbed.join().unwrap();
        let stealing = stealing.start(move |local| {
            thief.set(thread::current().id()).unwrap();
            run_one(local);
        });
        let parking = parking.start(|local| {
            run_one(local);
            run_one(local);
        });
        stealing.join().unwrap();
        parking.join().unwrap();
    });
}

/// The last spinner has found a task, which blocks until another task has run. A submitter leaves that
/// task to the spinner, or sees that it has stopped to spin. Seen to fail when the last spinner does
/// not look, when it looks without a fence before, and when it looks before it has stopped to spin.
#[test]
fn loom_parking_submit_against_the_last_spinner() {
    explore(3, || {
        let scheduler = scheduler(2);
        let gate = Gate::default();
        let [spinning, parking] = [busy(&scheduler), busy(&scheduler)];
        assert!(scheduler.idle.try_spin());
        let spinning = spinning.start({
            let gate = gate.clone();
            move |local| {
                local.unusual.set(SPINS, true);
                run::execute(local, task(&local.scheduler, move || gate.wait()));
            }
        });
        let parking = parking.start(run_one);
        submit_global(&scheduler, [task(&scheduler, move || gate.open())]);
        spinning.join().unwrap();
        parking.join().unwrap();
    });
}

/// A waker counts a spinner for a processor that another machine acquires first. That spinner does
/// not exist, so a submitter must not rely on it while the other machine parks again. Seen to fail
/// when the waker decrements `spinning` after it has released the lock.
#[test]
fn loom_parking_wake_without_machine_against_submit() {
    explore(4, || {
        let scheduler = scheduler(1);
        let parking = without_processor(&scheduler).machine();
        let is_work = Arc::new(AtomicBool::new(false));
        let first_waker = thread::spawn({
            let scheduler = scheduler.clone();
            move || wakes_a_machine(&scheduler)
        });
        let sees_it = thread::spawn({
            let (scheduler, is_work) = (scheduler.clone(), is_work.clone());
            move || {
                let Some(token) = scheduler.idle.acquire() else { return false };
                let _ = scheduler.idle.go_idle(Some(token), &parking, false);
                fence(SeqCst);
                is_work.load(Relaxed)
            }
        });
        is_work.store(true, Relaxed);
        fence(SeqCst);
        let woke = wakes_a_machine(&scheduler);
        assert!(first_waker.join().unwrap() | sees_it.join().unwrap() | woke);
    });
}

fn wakes_a_machine(scheduler: &Scheduler) -> bool {
    scheduler.idle.counts().should_wake() && !matches!(scheduler.idle.wake_spinner(false), Wake::None)
}
