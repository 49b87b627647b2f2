//! The one who sleeps in the poller: every interruption reaches him, and his seat is not empty for long.

use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::task::yield_now;

use super::{sleep_briefly, wait_until_idle};
use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, Watchdog, multi, wait_until};

/// Interruptions of the poller are coalesced; the word that does it may be cleared only by the one who sleeps there. If
/// an interrupter clears it, the next one's reason is slept through.
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

/// The wake-up that interrupts the sleeper may be met by a machine that only looks at the network in passing. It must not
/// get lost there.
#[test]
fn an_interruption_is_not_taken_away_by_who_looks_at_the_network() {
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
        // A machine that was sent for in vain would not leave.
        drop(runtime);
    }
}

/// Whoever leaves the poller with one task wakes nobody, and if that task holds its thread, nobody watches the network until
/// sysmon has seen it twice (tokio #4730). Once that has happened sysmon looks more often.
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
