//! sysmon gives a permit to a poll without a processor, or takes it back, while the poll ends: the
//! permit is released exactly once, and a hog that waits gets it.
//!
//! Seen to fail when sysmon does not look again whether the machine is in the turn (A4), when
//! sysmon releases a permit that it did not take back, and when the machine stores 0 instead of
//! swapping it (E3). The models can't see that the fence E2 is missing: loom has no light fence, so
//! M2 (§3), which the machine makes between E1 and E3, is a SeqCst fence here.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::sched::absent::release_permit;
use crate::sched::local::Local;
use crate::sched::poll::poll;
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::ownership::Region;
use crate::sched::tests::explore;
use crate::sched::tests::loom_permits::{hog, run_queued};
use crate::sched::tests::stage::{busy, list_a_sleeper, scheduler, task, without_processor};
use crate::sync::Arc;

/// One poll without a processor. Its machine then looks for one, and releases the permit before.
fn poll_absent(local: &Local) {
    let task = task(&local.scheduler, || ());
    poll(local, task, Region::Poll);
    release_permit(local);
}

/// No processor is idle, and no machine need be woken for work.
fn crowded() -> Arc<Scheduler> {
    let scheduler = scheduler(1);
    list_a_sleeper(&scheduler);
    let _token = scheduler.idle.acquire(usize::MAX).expect("nothing else runs");
    scheduler
}

fn assert_all_released(scheduler: &Arc<Scheduler>) {
    run_queued(scheduler, &scheduler.hogs);
    assert_eq!((scheduler.hogs.held(), scheduler.hogs.close().len()), (0, 0));
}

#[test]
fn loom_absent_poll_ends_against_count() {
    explore(6, || {
        let scheduler = crowded();
        let absent = without_processor(&scheduler);
        let machine = absent.machine();
        let turn = machine.ownership.next_turn();
        let absent = absent.start(poll_absent);
        scheduler.count_absent(&machine, turn);
        absent.join().unwrap();
        assert!(!machine.absence.has_permit(turn));
        assert_all_released(&scheduler);
    });
}

/// The machine goes on with a hog that brings a permit, while sysmon is still busy with the poll
/// before.
#[test]
fn loom_absent_next_poll_brings_a_permit_against_count() {
    explore(6, || {
        let scheduler = crowded();
        let ran = Arc::new(AtomicUsize::new(0));
        let absent = without_processor(&scheduler);
        let machine = absent.machine();
        let turn = machine.ownership.next_turn();
        let hog = hog(&ran);
        let absent = absent.start(move |local| {
            poll_absent(local);
            hog(local);
        });
        scheduler.count_absent(&machine, turn);
        absent.join().unwrap();
        assert_all_released(&scheduler);
        assert_eq!(ran.load(Relaxed), 1);
    });
}

/// Two hogs and one permit, which sysmon takes back from the first one because it sleeps.
#[test]
fn loom_absent_hog_ends_against_uncount() {
    explore(4, || {
        let scheduler = scheduler(2);
        list_a_sleeper(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let [first, second] = [busy(&scheduler), busy(&scheduler)];
        let machine = first.machine();
        let turn = machine.ownership.next_turn();
        let machines = [first, second].map(|machine| machine.start(hog(&ran)));
        scheduler.uncount_absent(&machine, turn);
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        assert_all_released(&scheduler);
        assert_eq!(ran.load(Relaxed), 2);
    });
}
