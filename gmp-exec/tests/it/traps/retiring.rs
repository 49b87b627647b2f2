//! What arrives while machines retire, or when they have just retired, must not be slept through.

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::{sleep_briefly, wait_until_idle};
use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, Watchdog, multi, run};

/// A spinner must stop to count before it looks for the last time (#43997, #45867): a task that comes at exactly that
/// moment is seen by the spinner or wakes somebody. The pause between two tasks scans the time a machine takes to retire.
#[test]
fn a_task_that_arrives_while_machines_retire_is_run() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..3_000).map(|round| round % 300) {
            runtime.block_on(runtime.spawn(async {})).unwrap();
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// The same for timers: one that is set while the machines retire must not be slept through.
#[test]
fn a_timer_that_is_set_while_machines_retire_fires() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..600).map(|round| round % 300) {
            // From inside, where the timer is the processor's own, and from outside, where it is anybody's.
            runtime.block_on(runtime.spawn(sleep_briefly())).unwrap();
            runtime.block_on(sleep_briefly());
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// And for the network: what becomes ready while the machines retire must have somebody in the poller.
#[test]
fn readiness_that_comes_while_machines_retire_is_seen() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..1_000).map(|round| round % 300) {
            let waiter = netpoll.clone();
            let task = runtime.spawn(async move { waiter.wait().await });
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
            netpoll.make_ready();
            runtime.block_on(task).unwrap();
        }
    }
}

/// Go decides by counters whether all its threads sleep, and counted wrong while one was on its way from the poller to a
/// processor (or had been started a moment ago). Nothing here decides by such a count; what is left of the trap is that
/// nobody may be waiting for a thread that has just taken its last look.
#[test]
fn tasks_and_readiness_that_come_together_are_both_run() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let _watchdog = Watchdog::of(&runtime);
    for round in 0..2_000 {
        let waiter = netpoll.clone();
        let ready = runtime.spawn(async move { waiter.wait().await });
        if round % 2 == 0 {
            wait_until_idle(&runtime);
        }
        netpoll.make_ready();
        let task = runtime.spawn(yield_now());
        runtime.block_on(ready).unwrap();
        runtime.block_on(task).unwrap();
    }
}

/// A task that goes back into the queue because it yields must wake somebody, too (Go's `goschedImpl` once did not).
#[test]
fn a_task_that_has_yielded_is_taken_over_by_an_idle_processor() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    for _ in 0..200 {
        wait_until_idle(&runtime);
        run(&runtime, async {
            let flag = Flag::new();
            let waiter = flag.clone();
            // In `runnext` of this processor, which will be busy with it until the flag is set.
            let busy = spawn(async move { waiter.wait() });
            yield_now().await;
            flag.set();
            busy.await.unwrap();
        });
    }
}
