//! Every interruption reaches the machine that sleeps in the netpoll.

use std::thread;

use gmp_exec::task::yield_now;

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, Watchdog, multi, sleep_briefly, wait_until_idle};

/// Go: `TestNetpollBreak`. All machines sleep, one of them in a netpoll that only a wake-up ends.
#[test]
fn the_sleeper_is_interrupted_for_each_task_from_outside() {
    for processors in [1, 2, 4] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for round in 0..1_000 {
            assert_eq!(runtime.block_on(runtime.spawn(async move { round })).unwrap(), round);
        }
        assert!(netpoll.was_used_by_one_at_a_time());
    }
}

/// Go: `BenchmarkNetpollBreak`, with ten threads at a time.
#[test]
fn the_sleeper_is_interrupted_by_many_threads_at_a_time() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let _watchdog = Watchdog::of(&runtime);
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| (0..200).for_each(|_| runtime.block_on(runtime.spawn(async {})).unwrap()));
        }
    });
    assert!(netpoll.was_used_by_one_at_a_time());
}

/// Interruptions of the sleeper in the netpoll are coalesced, and only the sleeper may clear the
/// word that does it. If an interrupter cleared it, the sleeper would miss the next interruption.
#[test]
fn interruptions_from_many_threads_at_a_time_are_all_noticed() {
    for has_netpoll in [true, false] {
        let runtime = multi(4).sysmon(false).build().unwrap();
        if has_netpoll {
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        }
        let _watchdog = Watchdog::of(&runtime);
        for _ in 0..300 {
            wait_until_idle(&runtime);
            thread::scope(|scope| {
                for kind in 0..4 {
                    let runtime = &runtime;
                    scope.spawn(move || match kind {
                        0 => runtime.block_on(sleep_briefly()),
                        _ => runtime.block_on(runtime.spawn(sleep_briefly())).unwrap(),
                    });
                }
            });
        }
    }
}

/// A machine that only polls the network in passing may consume the wake-up that should interrupt
/// the sleeper. The sleeper must not miss the interruption.
#[test]
fn an_interruption_is_not_consumed_by_a_machine_that_polls_in_passing() {
    for _ in 0..50 {
        let _watchdog = Watchdog::new();
        let runtime = multi(2).event_interval(1).sysmon(false).build().unwrap();
        runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let stop = Flag::new();
        let looking = stop.clone();
        let busy = runtime.spawn(async move {
            while !looking.is_set() {
                yield_now().await;
            }
        });
        for _ in 0..300 {
            runtime.block_on(runtime.spawn(async {})).unwrap();
        }
        stop.set();
        runtime.block_on(busy).unwrap();
        // A machine that was interrupted but sleeps on would not end.
        drop(runtime);
    }
}
