//! sysmon takes a processor from a stuck poll or a section, also if no work waits for it yet.

use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::time::sleep;

use super::hold_on_until_others_ran;
use crate::support::{FOREVER, Flag, Watchdog, blocked_until, multi, run, taken, wait_until};

#[test]
fn a_processor_is_taken_from_a_blocked_poll_and_counted_as_that() {
    let runtime = multi(1).build().unwrap();
    run(&runtime, async {
        for _ in 0..10 {
            spawn(async { hold_on_until_others_ran(Flag::wait) }).await.unwrap();
        }
    });
    let (blocked, computing) = taken(&runtime);
    assert!(blocked + computing >= 10, "each of them waits for the processor that it holds");
    // A thread that waits for a core before it goes to sleep looks as if it computes.
    assert!(blocked > computing, "{blocked} blocked, {computing} computing");
}

#[test]
fn a_processor_is_taken_from_a_computing_poll_and_counted_as_that() {
    let runtime = multi(1).build().unwrap();
    // A thread that hardly gets a core looks blocked, so try until one is seen computing.
    wait_until(|| {
        run(&runtime, async { spawn(async { hold_on_until_others_ran(Flag::busy_wait) }).await.unwrap() });
        taken(&runtime).1 > 0
    });
    assert!(runtime.metrics().longest_poll() >= Duration::from_millis(10));
    wait_until(|| runtime.metrics().num_hogs() == 0);
}

#[test]
fn without_sysmon_nothing_is_taken_from_a_poll() {
    let runtime = multi(2).blocking_threshold(Duration::from_millis(1)).sysmon(false).build().unwrap();
    let end = Flag::new();
    let stuck = end.clone();
    let hog = runtime.spawn(async move { stuck.wait() });
    run(&runtime, async {
        for _ in 0..20 {
            sleep(Duration::from_millis(1)).await;
        }
    });
    end.set();
    runtime.block_on(hog).unwrap();
    assert_eq!(taken(&runtime), (0, 0));
}

#[test]
fn a_submission_does_not_wait_for_the_end_of_a_section_for_which_nothing_waited() {
    let runtime = multi(1).blocking_threshold(FOREVER).build().unwrap();
    for _ in 0..20 {
        blocked_until(&runtime, || runtime.block_on(runtime.spawn(async {})).unwrap());
    }
}

#[test]
fn a_submission_does_not_wait_for_the_end_of_a_poll_that_got_stuck_when_nothing_waited() {
    for hold_on in [Flag::wait, Flag::busy_wait] {
        let runtime = multi(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let end = Flag::new();
        let stuck = end.clone();
        let hog = runtime.spawn(async move { hold_on(&stuck) });
        wait_until(|| runtime.metrics().longest_poll() > Duration::from_millis(20));
        runtime.block_on(runtime.spawn(async move { end.set() })).unwrap();
        runtime.block_on(hog).unwrap();
        assert_ne!(taken(&runtime), (0, 0));
    }
}
