//! sysmon takes a processor from a poll that is too long, and from no other poll.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::support::{FOREVER, Flag, Watchdog, compute_for, multi, run, taken, wait_until_idle};

/// sysmon must compare polls, not samples of a tick that may look alike: short polls one after the
/// other, with work waiting, never count as one long poll (Go #28701).
#[test]
fn many_short_polls_are_not_mistaken_for_one_long_poll() {
    // Not every attempt succeeds: the system may stop a thread in the middle of a poll for that
    // long.
    assert!((0..5).any(|_| taken_from_short_polls(Duration::from_millis(600)) == (0, 0)));
}

fn taken_from_short_polls(threshold: Duration) -> (u64, u64) {
    let runtime = multi(1).blocking_threshold(threshold).build().unwrap();
    run(&runtime, async move {
        let deadline = std::time::Instant::now() + 2 * threshold;
        let tasks: Vec<_> = (0..3)
            .map(|_| {
                spawn(async move {
                    while std::time::Instant::now() < deadline {
                        compute_for(Duration::from_millis(1));
                        yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    taken(&runtime)
}

/// The opposite: a poll that is too long is found although sysmon has seen other polls on the same
/// processor before it.
#[test]
fn a_long_poll_is_found_among_short_ones() {
    let runtime = multi(1).build().unwrap();
    let [stuck, end] = [Flag::new(), Flag::new()];
    // The short polls end only after the long one has begun. If the system stops a thread in the middle of
    // a poll, sysmon may take its processor, and from then on the two tasks do not take turns.
    let short = {
        let stuck = stuck.clone();
        runtime.spawn(async move {
            while !stuck.is_set() {
                yield_now().await;
            }
        })
    };
    let long = {
        let end = end.clone();
        runtime.spawn(async move {
            for _ in 0..500 {
                yield_now().await;
            }
            stuck.set();
            end.wait();
        })
    };
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(short).unwrap();
    end.set();
    runtime.block_on(long).unwrap();
}

/// Unlike in Go, a processor stays with a stuck poll while no work waits for it (Go #60693), for ten
/// thresholds.
#[test]
fn nothing_is_taken_for_a_while_when_nothing_waits() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(20)).build().unwrap();
    let far = runtime.spawn(async { sleep(FOREVER).await });
    for hold_on in [thread::sleep, compute_for] {
        // The thread that has just finished a task may still be in the last steps of its poll.
        wait_until_idle(&runtime);
        run(&runtime, async move { hold_on(Duration::from_millis(100)) });
        assert_eq!(taken(&runtime), (0, 0));
    }
    far.abort();
}
