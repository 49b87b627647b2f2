//! sysmon goes to sleep while a submitter finds every processor busy: one of the two sees the
//! other.
//!
//! Seen to fail without the fence in `listen`, and when `listen` looks first and announces second.

use loom::thread;

use crate::sched::tests::explore;
use crate::sched::tests::stage::{busy, list_a_sleeper, task, trusting};

/// A task is published, and no processor is idle.
#[test]
fn loom_sysmon_call_against_sleep() {
    explore(5, || {
        let scheduler = trusting(1);
        list_a_sleeper(&scheduler);
        let stuck = busy(&scheduler).in_poll();
        let submitting = thread::spawn({
            let scheduler = scheduler.clone();
            move || scheduler.submit_global([task(&scheduler, || ())])
        });
        scheduler.sleep_until_called();
        submitting.join().unwrap();
        while let Some(task) = scheduler.global.pop(&mut 0, 1, 1, |_| ()) {
            task.run();
        }
        drop(stuck);
    });
}

/// The runtime ends before sysmon has begun.
#[test]
fn loom_sysmon_stop_against_start() {
    explore(5, || {
        let scheduler = trusting(1);
        let stopping = thread::spawn({
            let scheduler = scheduler.clone();
            move || scheduler.sysmon.stop()
        });
        scheduler.sysmon.wait_for_stop();
        stopping.join().unwrap();
    });
}
