//! The poller: interrupted for what comes from outside, and looked at however busy the processors are.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::fake_netpoll::FakeNetpoll;
use crate::futures::join;
use crate::support::{Flag, Watchdog, current, multi, run, wait_until};

/// Go: `TestNetpollBreak`. Everybody sleeps in a poller that nothing ends but a wake-up.
#[test]
fn the_poller_is_interrupted_for_each_task_from_outside() {
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

/// Go: `BenchmarkNetpollBreak`: ten at a time.
#[test]
fn the_poller_is_interrupted_by_many_at_a_time() {
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

/// Go: `TestNetpollWaiters`, `TestNetpollDeadlock`: what becomes ready is run, whoever polls, and timers go on.
#[test]
fn what_the_netpoll_wakes_runs_and_timers_fire_beside_it() {
    for runtime in [current(), multi(1), multi(2)].map(|mut builder| builder.build().unwrap()) {
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let source = netpoll.clone();
        let feeder = thread::spawn(move || {
            for _ in 0..100 {
                wait_until(|| source.waiting() > 0);
                source.make_ready();
            }
        });
        let waiting = netpoll.clone();
        run(&runtime, async move {
            for _ in 0..100 {
                let ready = waiting.clone();
                spawn(async move { ready.wait().await }).await.unwrap();
                sleep(Duration::from_micros(100)).await;
            }
        });
        feeder.join().unwrap();
        assert_eq!(netpoll.waiting(), 0);
        assert!(netpoll.was_used_by_one_at_a_time());
    }
}

/// Go: `TestTimerFairness` for the network: a processor that always has tasks still looks at it.
#[test]
fn the_network_is_served_while_every_processor_is_busy() {
    for runtime in [current(), multi(1), multi(2)].map(|mut builder| builder.build().unwrap()) {
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let stop = Flag::new();
        let busy: Vec<_> = (0..4)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.is_set() {
                        yield_now().await;
                    }
                })
            })
            .collect();
        netpoll.make_ready();
        run(&runtime, async move { netpoll.wait().await });
        stop.set();
        run(&runtime, join(busy));
    }
}
