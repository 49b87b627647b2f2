//! A limited number of places: one that becomes free against one who finds none. Nobody waits for ever.
//!
//! Seen to fail when finding no place and beginning to wait, or leaving a place and looking who waits, are two critical
//! sections; and when a thread of the pool lies down in another one than it looked in.

use super::explore;
use super::gate::Gate;
use super::stage::{bereft, busy, config, scheduler, seat_a_dummy, task};
use crate::runtime::config::Flavor;
use crate::sched::hog_places::Place;
use crate::sched::machine::Local;
use crate::sched::{Scheduler, closures, hogs};
use crate::sync::Arc;
use crate::task::Offence;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Runs what is in the global queue.
fn run_queued(scheduler: &Arc<Scheduler>) {
    while let Some(task) = scheduler.global.pop(1, 1, |_| ()) {
        task.run();
    }
}

/// Two blocking closures and one place: the one that finds it taken is queued again when the other one ends.
#[test]
fn loom_admission_closure_ends_against_start() {
    explore(6, || {
        let scheduler = scheduler(2);
        seat_a_dummy(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let machines = [busy(&scheduler), busy(&scheduler)].map(|machine| {
            let ran = ran.clone();
            machine.start(move |local| {
                let closure = task(&local.scheduler, move || {
                    ran.fetch_add(1, Relaxed);
                });
                closures::execute(local, closure);
            })
        });
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        run_queued(&scheduler);
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.closures.running(), scheduler.closures.waiting()), (0, 0));
    });
}

/// Polls a known hog that counts its runs.
fn hog(ran: &Arc<AtomicUsize>) -> impl FnOnce(&Local) + use<> {
    let ran = ran.clone();
    move |local| {
        let hog = task(&local.scheduler, move || _ = ran.fetch_add(1, Relaxed));
        hogs::execute(local, hog, Offence::Burning);
    }
}

/// Two known hogs and one place: the machine of the first one goes on with the second one.
#[test]
fn loom_admission_hog_ends_against_start() {
    explore(6, || {
        let scheduler = scheduler(2);
        seat_a_dummy(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let machines = [busy(&scheduler), busy(&scheduler)].map(|machine| machine.start(hog(&ran)));
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.hogs.running(), scheduler.hogs.close().len()), (0, 0));
    });
}

/// sysmon takes the place of the first hog back while its poll ends: the second one runs once, and the place is nobody's
/// afterwards. Seen to fail when a place is only counted.
#[test]
fn loom_admission_hog_ends_against_take_back() {
    explore(6, || {
        let scheduler = scheduler(2);
        seat_a_dummy(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let [holder, other] = [busy(&scheduler), busy(&scheduler)];
        let place = holder.machine();
        let holder = holder.start(hog(&ran));
        let other = other.start(hog(&ran));
        if let Some(task) = scheduler.hogs.take_back(&place) {
            task.run();
        }
        holder.join().unwrap();
        other.join().unwrap();
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.hogs.running(), scheduler.hogs.close().len()), (0, 0));
    });
}

/// A hog finds the only place given to a machine whose processor is about to be taken, but then is not. Seen to fail when the
/// place is given back without a look at the line.
#[test]
fn loom_admission_hog_starts_against_take_in_vain() {
    explore(6, || {
        let scheduler = scheduler(2);
        seat_a_dummy(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let other = bereft(&scheduler).machine();
        let machine = busy(&scheduler).start(hog(&ran));
        if scheduler.hogs.try_give(&other) == Place::Given {
            scheduler.take_place_back(&other);
        }
        machine.join().unwrap();
        run_queued(&scheduler);
        assert_eq!(ran.load(Relaxed), 1);
        assert_eq!((scheduler.hogs.running(), scheduler.hogs.close().len()), (0, 0));
    });
}

/// The threads of the current-thread flavour that run closures only: a closure comes while the only one of them lies
/// down.
#[test]
fn loom_admission_pool_thread_sleeps_against_submit() {
    explore(6, || {
        let scheduler = Scheduler::new(config(1, Flavor::CurrentThread));
        let gates = [Gate::default(), Gate::default()];
        for gate in gates.clone() {
            scheduler.submit_to_pool(task(&scheduler, move || gate.open()));
        }
        gates.iter().for_each(Gate::wait);
        assert!(scheduler.closures.close().is_empty());
    });
}
