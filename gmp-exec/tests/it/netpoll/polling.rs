//! The network is polled however busy the processors are, and wherever they are.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::fake_netpoll::FakeNetpoll;
use crate::futures::{join, yield_until};
use crate::support::{Flag, Watchdog, blocked_until, current, multi, run, wait_until, wait_until_idle};

/// Go: `TestNetpollWaiters`, `TestNetpollDeadlock`. Tasks whose sources become ready run, whichever
/// machine polls, and timers fire.
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

/// A machine that finds something in the network each time also takes the tasks in the ring of a machine
/// that does not go on. Here the thread of that machine is blocked, and nothing takes its processor; in a
/// service, the thread has lost its core.
#[test]
fn an_endless_network_does_not_hold_up_what_is_queued_behind_another_machine() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let (begun, ran, served) = (Flag::new(), Flag::new(), Arc::new(AtomicUsize::new(0)));
    run(&runtime, async move {
        let endless = spawn({
            let (begun, ran, served) = (begun.clone(), ran.clone(), served.clone());
            async move {
                while !ran.is_set() {
                    netpoll.make_ready();
                    netpoll.wait().await;
                    served.fetch_add(usize::from(begun.is_set()), SeqCst);
                }
            }
        });
        let blocked = spawn(async move {
            begun.set();
            // Until then the other machine may look for work elsewhere.
            wait_until(|| served.load(SeqCst) > 10);
            let queued = ran.clone();
            // Into `runnext`, and from there to the ring.
            spawn(async move { queued.set() });
            spawn(async {});
            ran.wait();
        });
        blocked.await.unwrap();
        endless.await.unwrap();
    });
}

/// Go: `TestTimerFairness`, for the network: a processor that always has tasks still polls the
/// network.
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

#[test]
fn the_network_is_polled_between_tasks_that_only_yield() {
    // Of one thread: with several another one may be asleep in there, and would bring the event
    // some time or other.
    let runtime = current().build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    run(&runtime, async move {
        let is_done = Arc::new(AtomicBool::new(false));
        let task = {
            let (netpoll, is_done) = (netpoll.clone(), is_done.clone());
            spawn(async move {
                netpoll.wait().await;
                is_done.store(true, SeqCst);
            })
        };
        yield_until(|| netpoll.waiting() == 1).await;
        netpoll.make_ready();
        let mut yields = 0;
        while !is_done.load(SeqCst) {
            yields += 1;
            yield_now().await;
        }
        task.await.unwrap();
        assert!(yields < 5, "{yields}");
    });
}

/// A machine that hands off its processor must check the same conditions as a machine that stops
/// searching for work. When it hands off the last running processor, another machine must be left
/// that waits for the network.
#[test]
fn the_network_is_polled_while_the_last_processor_is_in_a_blocking_section() {
    for processors in [1, 2] {
        for has_sysmon in [true, false] {
            let runtime = multi(processors).sysmon(has_sysmon).build().unwrap();
            let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            let waiter = netpoll.clone();
            let waiting = runtime.spawn(async move { waiter.wait().await });
            wait_until(|| netpoll.waiting() == 1);
            blocked_until(&runtime, || {
                netpoll.make_ready();
                wait_until(|| waiting.is_finished());
            });
        }
    }
}

/// A machine that leaves the netpoll with one task wakes no other machine. If that task is stuck,
/// no machine watches the network until sysmon has looked twice (tokio #4730). After that has
/// happened, sysmon looks more often.
#[test]
fn the_network_is_watched_again_soon_after_its_tasks_have_held_threads_before() {
    const ROUNDS: u32 = 20;
    let threshold = Duration::from_secs(500);
    let regular_look = threshold / 1_000;
    let runtime = multi(2).blocking_threshold(threshold).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let mut slow_rounds = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let (begun, end) = (Flag::new(), Flag::new());
        let holder = runtime.spawn({
            let (netpoll, begun, end) = (netpoll.clone(), begun.clone(), end.clone());
            async move {
                netpoll.wait().await;
                begun.set();
                end.wait();
            }
        });
        wait_until(|| netpoll.waiting() == 1);
        let other = runtime.spawn({
            let netpoll = netpoll.clone();
            async move {
                netpoll.wait().await;
                end.set();
            }
        });
        wait_until(|| netpoll.waiting() == 2);
        wait_until_idle(&runtime);
        netpoll.make_ready();
        begun.wait();
        netpoll.make_ready();
        runtime.block_on(async { (holder.await.unwrap(), other.await.unwrap()) });
        slow_rounds += u32::from(start.elapsed() >= regular_look);
    }
    // By regular looks alone each round takes two of them.
    assert!(slow_rounds < ROUNDS / 2, "{slow_rounds}");
}

/// The second task of a batch runs after the first one, on the same machine. Waking another machine
/// for the second task cost more than both polls.
#[test]
fn a_batch_of_two_short_polls_wakes_no_machine() {
    const BATCHES: u64 = 100;
    // Without sysmon, which may take the processor from a machine that the system has stopped.
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let tasks = [(); 2].map(|()| {
        let netpoll = netpoll.clone();
        runtime.spawn(async move {
            for _ in 0..=BATCHES {
                netpoll.wait().await;
            }
        })
    });
    let wait_for_both = || {
        wait_until(|| netpoll.is_drained() && netpoll.waiting() == 2);
        wait_until_idle(&runtime);
    };
    let parks = || (0..2).map(|worker| runtime.handle().metrics().worker_park_count(worker)).sum::<u64>();
    wait_for_both();
    let before = parks();
    for _ in 0..BATCHES {
        netpoll.make_batch_ready(2);
        wait_for_both();
    }
    let parked = parks() - before;
    netpoll.make_batch_ready(2);
    run(&runtime, join(tasks.into()));
    assert!(parked < BATCHES * 3 / 2, "{parked} parks for {BATCHES} batches");
}
