//! The number of processors changes while tasks are submitted, processors are taken, and machines
//! go to sleep. A task that gets no machine is a deadlock, which loom reports.
//!
//! Seen to fail (names as in sched/README.md §11):
//!
//! - N1: when the thread that resizes does not look whether the lists are closed, or looks in an
//!   earlier critical section (`loom_resize_grow_against_shutdown`, in `loom_shutdown`);
//! - N2, N3: when tokens change their lists in two critical sections, when the word does not change
//!   with the list, when only one of several processors is brought back, and when tokens are listed
//!   before their processors are stored;
//! - N4: when the surplus is not written, here or when a machine has retired its processor;
//! - N5 is missing, N6 is missing, looks for visible work but not for timers, or comes before N2;
//! - H1 is missing, or leaves the task in `runnext` behind, and when a machine that sees a surplus
//!   searches (H2 is missing);
//! - H3: when the machine looks for a surplus before it has the lock, when it never retires its
//!   processor, when `idle` grows although the token retires, and when `spinning` is decremented
//!   only after the fence and the look (H4);
//! - H4: without the fence, and without the look, where the token retires;
//! - when timers of retired processors are not served, when closing takes only the idle list, when
//!   a processor for which no machine is available keeps its tasks, or its tasks are pushed without
//!   a wake-up, and when sysmon asks for a busy processor by comparing `idle` with `active`.
//!
//! Not seen to fail, because they do no harm:
//!
//! - when H1 pushes its tasks without a wake-up: the machine itself looks afterwards, in R3, or in
//!   its search if there is no surplus any more;
//! - when `active` is written before the lock is taken: one thread resizes at a time (`resizing`),
//!   and what a machine decides meanwhile by the new number, N2 and N3 would decide, too;
//! - when a token retires although the lists are closed: `reclaim` takes both lists.
//!
//! Not seen to fail either when the thread that ends the network asks for the number of processors
//! before it reads the phase (§9). Here, a processor that is added after the question and not
//! drained always has a machine that may poll, and that holds up the end as well.

use std::time::Instant;

use loom::thread;

use crate::sched::config::{Config, Flavor};
use crate::sched::local::Local;
use crate::sched::resize::set_max_procs;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Stuck;
use crate::sched::state::unusual::SPINS;
use crate::sched::submit;
use crate::sched::submit::wake::assign;
use crate::sched::submit::wake::submit_global;
use crate::sched::tests::explore;
use crate::sched::tests::stage::{busy, config, idle, run_one, set_timer, task};
use crate::sync::Arc;
use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::{Runnable, StuckBy};

/// A scheduler that starts no thread beyond so many machines.
fn capped(processors: usize, max_machines: usize) -> Arc<Scheduler> {
    Scheduler::new(Config { max_machines, ..config(processors, Flavor::MultiThread) })
}

/// Runs one task and gives the processor to any machine that needs it, at once or later.
fn run_one_and_hand_off(local: &Local) {
    run_one(local);
    hand_off(local);
}

/// Gives the processor to any machine that needs it. It has seen that there is one for it, but
/// another machine may have been faster.
fn hand_off(local: &Local) {
    let _guard = local.enter();
    local.machine.ownership.release().into_iter().for_each(|token| assign(&local.scheduler, token));
}

/// How many tasks run, and how many have run at a time. A panic of a task would not fail the model.
#[derive(Clone, Default)]
struct Running(Arc<(AtomicUsize, AtomicUsize)>);

impl Running {
    fn task(&self, scheduler: &Arc<Scheduler>) -> Runnable {
        let counts = self.0.clone();
        task(scheduler, move || {
            let others = counts.0.fetch_add(1, Relaxed);
            counts.1.fetch_max(others + 1, Relaxed);
            counts.0.fetch_sub(1, Relaxed);
        })
    }

    fn most(&self) -> usize {
        self.0.1.load(Relaxed)
    }
}

/// Each token is on one list, and the word counts those on the idle list.
fn assert_all_are_listed<const N: usize>(scheduler: &Scheduler) {
    let mut indices: Vec<_> = scheduler.idle.reclaim().iter().map(|token| token.index()).collect();
    indices.sort();
    assert_eq!(indices, Vec::from_iter(0..N));
    assert!(scheduler.idle.counts().idle() == 0);
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
            local.unusual.set(SPINS, true);
            run_one_and_hand_off(local);
        });
        let working = working.start(run_one_and_hand_off);
        set_max_procs(&scheduler, 1);
        for _ in 0..2 {
            submit_global(&scheduler, [task(&scheduler, || ())]);
        }
        spinning.join().unwrap();
        working.join().unwrap();
        assert_eq!(scheduler.idle.snapshot().processors, 1);
        assert_all_are_listed::<2>(&scheduler);
    });
}

/// Two machines see that there is a surplus. One of them has tasks, in its ring and in `runnext`,
/// and they run one after the other.
#[test]
fn loom_resize_shrink_with_tasks() {
    explore(2, || {
        let scheduler = capped(2, 2);
        let [first, second] = [busy(&scheduler), busy(&scheduler)];
        set_max_procs(&scheduler, 1);
        let running = Running::default();
        let first = first.start({
            let running = running.clone();
            move |local| {
                (0..2).for_each(|_| submit(running.task(&local.scheduler), false));
                run_one_and_hand_off(local);
            }
        });
        let second = second.start(run_one_and_hand_off);
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(running.most(), 1);
    });
}

/// A processor retires with a timer. Other machines serve the timer.
#[test]
fn loom_resize_shrink_with_timer() {
    explore(2, || {
        let scheduler = capped(2, 2);
        let [first, second] = [busy(&scheduler), busy(&scheduler)];
        set_max_procs(&scheduler, 1);
        let first = first.start(|local| {
            set_timer(&local.scheduler);
            run_one_and_hand_off(local);
        });
        let second = second.start(run_one_and_hand_off);
        submit_global(&scheduler, [task(&scheduler, || ())]);
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// Two machines hand their processors off, each with a task in `runnext`, and there is one machine
/// for both. It runs both tasks, although there is a surplus.
#[test]
fn loom_resize_shrink_against_hand_off() {
    explore(2, || {
        let scheduler = capped(2, 3);
        let giving = [busy(&scheduler), busy(&scheduler)];
        let heir = idle(&scheduler).start(|local| (0..2).for_each(|_| run_one(local)));
        let giving = giving.map(|machine| {
            machine.start(|local| {
                submit(task(&local.scheduler, || ()), false);
                hand_off(local);
            })
        });
        set_max_procs(&scheduler, 1);
        giving.into_iter().for_each(|machine| machine.join().unwrap());
        heir.join().unwrap();
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
            move || assert_eq!(set_max_procs(&scheduler, 1), 2)
        });
        submit_global(&scheduler, [task(&scheduler, || ())]);
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
            move || assert_eq!(set_max_procs(&scheduler, 2), 1)
        });
        submit_global(&scheduler, [task(&scheduler, || ())]);
        resizing.join().unwrap();
        spare.join().unwrap();
    });
}

/// The same with processors that were retired before.
#[test]
fn loom_resize_grow_again_against_submit() {
    explore(3, || {
        let scheduler = capped(3, 2);
        let _stuck = busy(&scheduler);
        set_max_procs(&scheduler, 1);
        let spare = idle(&scheduler).start(run_one);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || assert_eq!(set_max_procs(&scheduler, 3), 1)
        });
        submit_global(&scheduler, [task(&scheduler, || ())]);
        resizing.join().unwrap();
        spare.join().unwrap();
        assert_eq!(scheduler.idle.snapshot().processors, 1);
    });
}

/// The same with a timer. The sleeper may find the timer due and no processor idle.
#[test]
fn loom_resize_grow_against_timer() {
    explore(3, || {
        let scheduler = capped(1, 2);
        let _stuck = busy(&scheduler);
        let sleeper = idle(&scheduler).start(run_one);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || assert_eq!(set_max_procs(&scheduler, 2), 1)
        });
        set_timer(&scheduler);
        resizing.join().unwrap();
        sleeper.join().unwrap();
    });
}

/// sysmon must not go to its deep sleep beside a machine that has a processor.
#[test]
fn loom_resize_against_deep_sleep() {
    explore(4, || {
        let scheduler = capped(2, 1);
        let _stuck = busy(&scheduler);
        let resizing = thread::spawn({
            let scheduler = scheduler.clone();
            move || [1, 2].map(|count| set_max_procs(&scheduler, count))
        });
        assert!(scheduler.idle.any_busy());
        assert_eq!(resizing.join().unwrap(), [2, 1]);
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
        let stuck_poll = Stuck { machine, seen, cause: StuckBy::Blocking, since: Instant::now() };
        let stuck = stuck.start(|local| {
            let _guard = local.enter();
            local.machine.ownership.release().into_iter().for_each(|token| local.scheduler.idle.put(token));
        });
        let taking = thread::spawn({
            let scheduler = scheduler.clone();
            move || stuck_poll.take(0).map_or((), |token| scheduler.idle.put(token))
        });
        set_max_procs(&scheduler, 1);
        set_max_procs(&scheduler, 3);
        set_max_procs(&scheduler, 2);
        stuck.join().unwrap();
        taking.join().unwrap();
        assert_eq!(scheduler.idle.snapshot().processors, 2);
        assert_all_are_listed::<3>(&scheduler);
    });
}
