//! Work that arrives while machines park, or when they have just parked, must be found.

use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Watchdog, current, multi, sleep_briefly, wait_until_idle};

/// A spinning machine must stop counting as spinning before its last look for work (Go #43997,
/// #45867): either the machine sees a task that arrives at that moment, or the submitter wakes a
/// machine. The pause between two tasks covers the time that a machine takes to park.
#[test]
fn a_task_that_arrives_while_machines_park_is_run() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..3_000).map(|round| round % 300) {
            runtime.block_on(runtime.spawn(async {})).unwrap();
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// The same for a timer: a timer that is set while the machines park must fire in time.
#[test]
fn a_timer_that_is_set_while_machines_park_fires() {
    for processors in [1, 2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for pause in (0..600).map(|round| round % 300) {
            // From inside, where the timer is the processor's own, and from outside, where the
            // thread picks a processor.
            runtime.block_on(runtime.spawn(sleep_briefly())).unwrap();
            runtime.block_on(sleep_briefly());
            (0..pause * 10).for_each(|_| std::hint::spin_loop());
        }
    }
}

/// The same for the network: when a source becomes ready while the machines park, a machine must be
/// in the netpoll.
#[test]
fn readiness_that_comes_while_machines_park_is_seen() {
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

/// Go decides by counters whether all of its threads sleep, and counted wrong while a thread was on
/// its way from the netpoll to a processor, or had just been started. This scheduler does not use
/// such a count; but no work may depend on a thread that has just taken its last look.
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

#[test]
fn what_a_park_hook_spawns_runs_before_the_thread_sleeps() {
    let waiting = Arc::new(Mutex::new(None::<Waker>));
    let was_parked = AtomicBool::new(false);
    let hook = {
        let waiting = waiting.clone();
        move || {
            if !was_parked.swap(true, SeqCst) {
                let waiting = waiting.clone();
                spawn(async move { waiting.lock().unwrap().take().unwrap().wake() });
            }
        }
    };
    let runtime = current().on_thread_park(hook).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let mut has_waited = false;
    runtime.block_on(poll_fn(|cx| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        *waiting.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }));
}
