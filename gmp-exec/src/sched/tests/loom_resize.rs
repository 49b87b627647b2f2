//! The number of processors changes while tasks are submitted, processors are taken, and machines
//! go to sleep. A task that gets no machine is a deadlock, which loom reports.

use std::time::Instant;

use loom::thread;

use crate::sched::config::{Config, Flavor};
use crate::sched::local::Local;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::ClaimResult;
use crate::sched::state::takeable::Note;
use crate::sched::tests::explore;
use crate::sched::tests::stage::{busy, config, idle, run_one, task};
use crate::sync::Arc;
use crate::task::StuckBy;

/// A scheduler that starts no thread beyond so many machines.
fn capped(processors: usize, max_machines: usize) -> Arc<Scheduler> {
    Scheduler::new(Config { max_machines, ..config(processors, Flavor::MultiThread) })
}

/// Runs one task and gives the processor to any machine that needs it, at once or later.
fn run_one_and_hand_off(local: &Local) {
    run_one(local);
    let _guard = local.enter();
    local.machine.ownership.release().into_iter().for_each(|token| local.scheduler.hand_off(token));
}

/// One of two machines, the last spinner, returns its processor because there is a surplus. The
/// submitters trusted it to look. Both tasks run, and one machine at a time has a processor.
#[test]
fn loom_resize_shrink_against_the_last_spinner() {
    explore(1, || {
        let scheduler = capped(2, 2);
        let [spinning, working] = [busy(&scheduler), busy(&scheduler)];
        assert!(scheduler.idle.try_spin());
        let spinning = spinning.start(|local| {
            local.spinning.set(true);
            run_one_and_hand_off(local);
        });
        let working = working.start(run_one_and_hand_off);
        scheduler.set_max_procs(1);
        for _ in 0..2 {
            scheduler.submit_global([task(&scheduler, || ())]);
        }
        spinning.join().unwrap();
        working.join().unwrap();
    });
}

/// The idle processor that a submitter sees retires before the submitter has taken it. The machine
/// that has the other processor runs the task, although it parks meanwhile.
#[test]
fn loom_resize_shrink_against_submit() {
    explore(2, || {
        let scheduler = capped(2, 1);
        let machine = busy(&scheduler).start(run_one);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || assert_eq!(scheduler.set_max_procs(1), 2)
        });
        scheduler.submit_global([task(&scheduler, || ())]);
        resizing.join().unwrap();
        machine.join().unwrap();
    });
}

/// The only processor has a machine that is stuck for good. A task is submitted while a second
/// processor is added.
#[test]
fn loom_resize_grow_against_submit() {
    explore(4, || {
        let scheduler = capped(1, 2);
        let _stuck = busy(&scheduler);
        let spare = idle(&scheduler).start(run_one);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || assert_eq!(scheduler.set_max_procs(2), 1)
        });
        scheduler.submit_global([task(&scheduler, || ())]);
        resizing.join().unwrap();
        spare.join().unwrap();
    });
}

/// The same with a processor that was retired before.
#[test]
fn loom_resize_grow_again_against_submit() {
    explore(3, || {
        let scheduler = capped(2, 2);
        let _stuck = busy(&scheduler);
        scheduler.set_max_procs(1);
        let spare = idle(&scheduler).start(run_one);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || assert_eq!(scheduler.set_max_procs(2), 1)
        });
        scheduler.submit_global([task(&scheduler, || ())]);
        resizing.join().unwrap();
        spare.join().unwrap();
    });
}

/// A machine comes out of its poll and returns its processor, while a taker takes it and the number
/// of processors changes twice. Afterwards each token is on one list.
#[test]
fn loom_resize_against_take() {
    explore(4, || {
        let scheduler = capped(2, 2);
        let stuck = busy(&scheduler).in_poll();
        let machine = stuck.machine();
        let seen = machine.ownership.look().expect("it is in a poll");
        let note = Note { machine, seen, cause: StuckBy::Blocking, since: Instant::now() };
        let stuck = stuck.start(|local| {
            let _guard = local.enter();
            local.machine.ownership.release().into_iter().for_each(|token| local.scheduler.idle.put(token));
        });
        let taking = thread::spawn({
            let scheduler = scheduler.clone();
            move || match scheduler.takeable.take(&note, 0) {
                ClaimResult::Taken(token) => scheduler.idle.put(token),
                ClaimResult::Refused => {}
            }
        });
        scheduler.set_max_procs(1);
        scheduler.set_max_procs(3);
        scheduler.set_max_procs(2);
        stuck.join().unwrap();
        taking.join().unwrap();
        assert_eq!(scheduler.idle.snapshot().processors, 2);
        let mut indices: Vec<_> = scheduler.idle.reclaim().iter().map(|token| token.index()).collect();
        indices.sort();
        assert_eq!(indices, [0, 1, 2]);
    });
}
