//! sysmon goes to sleep while a submitter finds every processor busy: one of the two sees the
//! other.
//!
//! Seen to fail without the fence in `listen`, and when `listen` looks first and announces second;
//! without the fence in `notice_busy` or in `next_sleep`.

use loom::thread;

use crate::sched::config::{Config, Flavor};
use crate::sched::scheduler::Scheduler;
use crate::sched::state::machine::Machine;
use crate::sched::state::sysmon::{Sysmon, calls};
use crate::sched::submit::wake::submit_global;
use crate::sched::sysmon::model::{sleep_until_busy, sleep_until_called};
use crate::sched::tests::explore;
use crate::sched::tests::stage::{busy, config, list_a_sleeper, task, watched};
use crate::sync::Arc;

/// A task is published, and no processor is idle.
#[test]
fn loom_sysmon_call_against_sleep() {
    explore(5, || {
        let scheduler = watched(1);
        list_a_sleeper(&scheduler);
        let stuck = busy(&scheduler).in_poll();
        let submitting = thread::spawn({
            let scheduler = scheduler.clone();
            move || submit_global(&scheduler, [task(&scheduler, || ())])
        });
        sleep_until_called(&scheduler);
        submitting.join().unwrap();
        while let Some(task) = scheduler.global.pop(&mut 0, 1, 1, |_| ()) {
            task.run();
        }
        drop(stuck);
    });
}

/// sysmon goes to its deep sleep while the thread that drives a watched current-thread runtime wakes
/// up in the netpoll.
#[test]
fn loom_sysmon_deep_sleep_against_a_driver_that_wakes_up() {
    explore(5, || {
        let config = Config { is_watched: true, ..config(1, Flavor::CurrentThread) };
        let scheduler = Scheduler::new(config);
        let driver = Machine::new(0);
        let _token = scheduler.idle.acquire_driver().expect("no thread drives").0;
        let _ = scheduler.idle.go_idle(None, &driver, false);
        let waking = thread::spawn({
            let scheduler = scheduler.clone();
            move || {
                scheduler.idle.unlist(&driver);
                scheduler.sysmon.notice_busy(&scheduler.idle);
            }
        });
        sleep_until_busy(&scheduler);
        waking.join().unwrap();
    });
}

/// The runtime ends before sysmon has begun.
#[test]
fn loom_sysmon_stop_against_start() {
    explore(5, || {
        let scheduler = watched(1);
        let stopping = thread::spawn({
            let scheduler = scheduler.clone();
            move || scheduler.sysmon.stop()
        });
        scheduler.sysmon.wait_for_stop();
        stopping.join().unwrap();
    });
}

/// A machine is left to sysmon while the runtime ends: sysmon starts the machine, or the thread that
/// needs the machine does.
///
/// Seen to fail when sysmon takes the machines at its end and does not close.
#[test]
fn loom_sysmon_start_against_the_end() {
    explore(5, || {
        let sysmon = Arc::new(Sysmon::default());
        sysmon.starts.open();
        let needing = thread::spawn({
            let sysmon = sysmon.clone();
            move || match sysmon.starts.add(Machine::new(0)) {
                Ok(()) => {
                    sysmon.calls.add(calls::WOKEN);
                    0
                }
                Err(_) => 1,
            }
        });
        let stopping = thread::spawn({
            let sysmon = sysmon.clone();
            move || sysmon.stop()
        });
        let by_sysmon = sysmon.start_until_stopped();
        stopping.join().unwrap();
        assert_eq!(needing.join().unwrap() + by_sysmon, 1);
    });
}
