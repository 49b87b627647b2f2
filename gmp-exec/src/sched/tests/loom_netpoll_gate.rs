//! The sleeper against interrupters.
//!
//! Seen to fail without the fence of the announcement, without the fence after a timer is set,
//! without the look for an assignment, and with one announcement for all machines. The announcement
//! needs no more than these fences: the models also pass when its accesses are relaxed.

use crate::sched::submit::wake::submit_global;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{busy, idle, run_one, scheduler, set_timer, task};

/// A thread without a processor sets a timer while the only machine goes to sleep in the netpoll:
/// either the sleeper sees the timer, or it is interrupted.
#[test]
fn loom_netpoll_gate_timer_against_sleep() {
    explore(6, || {
        let scheduler = scheduler(1);
        let machine = busy(&scheduler).start(run_one);
        set_timer(&scheduler);
        machine.join().unwrap();
    });
}

/// The same with a machine that is already listed as the sleeper and has not announced itself yet.
#[test]
fn loom_netpoll_gate_timer_against_announcement() {
    explore(5, || {
        let scheduler = scheduler(1);
        let machine = idle(&scheduler).start(run_one);
        set_timer(&scheduler);
        machine.join().unwrap();
    });
}

/// The sleeper is assigned a processor while it announces itself: it finds the assignment, or is
/// interrupted.
#[test]
fn loom_netpoll_gate_assignment_against_announcement() {
    explore(5, || {
        let scheduler = scheduler(1);
        let machine = idle(&scheduler).start(run_one);
        submit_global(&scheduler, [task(&scheduler, || ())]);
        machine.join().unwrap();
    });
}

/// One machine was woken and is leaving the netpoll while the next sleeper announces itself: the
/// retraction of the first must not undo the announcement of the second. The first task blocks
/// until the second one has run.
#[test]
fn loom_netpoll_gate_one_leaves_while_the_next_goes_to_sleep() {
    explore(3, || {
        let scheduler = scheduler(2);
        let ran = Gate::default();
        let [leaving, coming] = [idle(&scheduler), busy(&scheduler)];
        let [leaving, coming] = [leaving.start(run_one), coming.start(run_one)];
        submit_global(
            &scheduler,
            [task(&scheduler, {
                let ran = ran.clone();
                move || ran.wait()
            })],
        );
        submit_global(&scheduler, [task(&scheduler, move || ran.open())]);
        leaving.join().unwrap();
        coming.join().unwrap();
    });
}
