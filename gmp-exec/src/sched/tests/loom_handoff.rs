//! A machine hands its processor off, or leaves it to be taken, while a task is submitted: the task
//! gets a machine although the machine that had the processor is stuck for good.
//!
//! Seen to fail without the fence in `assign`, without the looks after it, when `hand_off` ignores
//! `runnext` or the timers, and when a timer that is set inside a section is not announced to the
//! sleeper.

use std::time::Instant;

use loom::thread;

use crate::sched::handoff::section::{Section, blocking_section};
use crate::sched::local::Local;
use crate::sched::submit::wake::submit_global;
use crate::sched::sysmon::{self, Memory};
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{
    busy, idle, list_a_sleeper, run_one, scheduler, set_timer, set_timer_for, task, watched, watched_with,
    without_processor,
};
use crate::sched::{handoff, submit};

fn hand_off(local: &Local) {
    let _guard = local.enter();
    handoff::hand_off(local);
}

/// The machine sees no work for its processor and puts it on the idle list, while a task is
/// submitted.
#[test]
fn loom_handoff_hand_off_against_submit() {
    explore(4, || {
        let scheduler = scheduler(1);
        let [giving, heir] = [busy(&scheduler), idle(&scheduler)];
        let [giving, heir] = [giving.start(hand_off), heir.start(run_one)];
        submit_global(&scheduler, [task(&scheduler, || ())]);
        giving.join().unwrap();
        heir.join().unwrap();
    });
}

/// No machine was woken for a task in `runnext`: the processor must not go to the idle list with
/// that task.
#[test]
fn loom_handoff_hand_off_with_runnext() {
    explore(5, || {
        let scheduler = scheduler(1);
        let [giving, heir] = [busy(&scheduler), idle(&scheduler)];
        let heir = heir.start(run_one);
        let giving = giving.start(|local| {
            submit(task(&local.scheduler, || ()), false);
            hand_off(local);
        });
        giving.join().unwrap();
        heir.join().unwrap();
    });
}

/// The sleeper was not told about a timer of the processor: it must learn of the timer when the
/// processor goes idle.
#[test]
fn loom_handoff_hand_off_with_timer() {
    explore(5, || {
        let scheduler = scheduler(1);
        let [giving, heir] = [busy(&scheduler), idle(&scheduler)];
        let heir = heir.start(run_one);
        let giving = giving.start(|local| {
            set_timer(&local.scheduler);
            hand_off(local);
        });
        giving.join().unwrap();
        heir.join().unwrap();
    });
}

/// A blocking section begins and lasts until a task has run, which is submitted meanwhile, when no
/// processor is idle. The machine gives its processor away, to a spare or a sleeper. The second task is
/// for the other one.
#[test]
fn loom_handoff_section_against_submit() {
    explore(2, || {
        let scheduler = watched_with(1, 3);
        let ran = Gate::default();
        let blocking = busy(&scheduler).in_poll();
        let heirs = [idle(&scheduler), idle(&scheduler)].map(|heir| {
            heir.start(|local| {
                run_one(local);
                hand_off(local);
            })
        });
        let blocking = blocking.start({
            let ran = ran.clone();
            move |local| blocking_section(local, Section::WillBlock, || ran.wait())
        });
        submit_global(&scheduler, [task(&scheduler, move || ran.open())]);
        blocking.join().unwrap();
        submit_global(&scheduler, [task(&scheduler, || ())]);
        for heir in heirs {
            heir.join().unwrap();
        }
    });
}

/// A section begins while a task waits in `runnext`, where no other machine looks, and lasts until
/// the task has run.
#[test]
fn loom_handoff_section_with_runnext() {
    explore(4, || {
        let scheduler = watched(1);
        list_a_sleeper(&scheduler);
        let ran = Gate::default();
        let [blocking, heir] = [busy(&scheduler).in_poll(), idle(&scheduler)];
        let heir = heir.start(run_one);
        let blocking = blocking.start(move |local| {
            let opened = ran.clone();
            submit(task(&local.scheduler, move || opened.open()), false);
            blocking_section(local, Section::WillBlock, || ran.wait());
        });
        blocking.join().unwrap();
        heir.join().unwrap();
    });
}

/// A timer is set inside a section while a submitter wakes a machine, which gets the processor. When
/// that machine sleeps in the netpoll, after its own task, it learns of the timer.
#[test]
fn loom_handoff_timer_in_section_against_submit() {
    explore(3, || {
        let scheduler = watched_with(1, 2);
        let ran = Gate::default();
        let [blocking, heir] = [busy(&scheduler).in_poll(), idle(&scheduler)];
        let heir = heir.start(|local| {
            run_one(local);
            run_one(local);
        });
        let blocking = blocking.start({
            let ran = ran.clone();
            move |local| {
                blocking_section(local, Section::WillBlock, || {
                    let opened = ran.clone();
                    set_timer_for(&local.scheduler, move || opened.open());
                    ran.wait();
                });
            }
        });
        submit_global(&scheduler, [task(&scheduler, || ())]);
        blocking.join().unwrap();
        heir.join().unwrap();
    });
}

/// `max_machines` is reached and no machine is idle: one is in a section with the only processor. A
/// task is submitted while the other machine ends its poll without a processor and goes to sleep.
#[test]
fn loom_handoff_machine_that_comes_back_against_submit() {
    explore(4, || {
        let scheduler = watched_with(1, 2);
        let ran = Gate::default();
        let [blocking, back] = [busy(&scheduler).in_poll(), without_processor(&scheduler)];
        let back = back.start(run_one);
        let blocking = blocking.start({
            let ran = ran.clone();
            move |local| blocking_section(local, Section::WillBlock, || ran.wait())
        });
        submit_global(&scheduler, [task(&scheduler, move || ran.open())]);
        blocking.join().unwrap();
        back.join().unwrap();
    });
}

/// The same with a task that only the processor's owner would run: it is in `runnext` when the
/// section begins.
#[test]
fn loom_handoff_machine_that_comes_back_against_section_with_runnext() {
    explore(4, || {
        let scheduler = watched_with(1, 2);
        let ran = Gate::default();
        let [blocking, back] = [busy(&scheduler).in_poll(), without_processor(&scheduler)];
        let back = back.start(run_one);
        let blocking = blocking.start(move |local| {
            let opened = ran.clone();
            submit(task(&local.scheduler, move || opened.open()), false);
            blocking_section(local, Section::WillBlock, || ran.wait());
        });
        blocking.join().unwrap();
        back.join().unwrap();
    });
}

/// sysmon finds a poll that sleeps for too long, sees no work for its processor, and makes it idle, while
/// a task is submitted.
#[test]
fn loom_handoff_sysmon_against_submit() {
    explore(3, || {
        let scheduler = scheduler(1);
        list_a_sleeper(&scheduler);
        let ran = Gate::default();
        let [stuck, heir] = [busy(&scheduler).in_poll(), idle(&scheduler)];
        stuck.show();
        let heir = heir.start(run_one);
        let stuck = stuck.start({
            let ran = ran.clone();
            move |_| ran.wait()
        });
        let submitting = thread::spawn({
            let scheduler = scheduler.clone();
            move || submit_global(&scheduler, [task(&scheduler, move || ran.open())])
        });
        sysmon::look(&scheduler, &mut Memory::default(), Instant::now());
        submitting.join().unwrap();
        stuck.join().unwrap();
        heir.join().unwrap();
    });
}
