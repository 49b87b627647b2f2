//! A timer belongs to a processor, and fires whatever happens to the processor and to the thread
//! that set the timer.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;
use gmp_exec::time::sleep;

use crate::support::{Hog, compute_for, multi, run};

/// A thief looks into its own local queue before it steals, because timers that it has just fired
/// may have filled the queue.
#[test]
fn a_thief_that_fires_timers_runs_them_first() {
    let runtime = multi(4).sysmon(false).build().unwrap();
    let finished = Arc::new(AtomicUsize::new(0));
    let count = finished.clone();
    run(&runtime, async move {
        let sleepers: Vec<_> = (0..2_000u64)
            .map(|i| {
                let count = count.clone();
                spawn(async move {
                    // Many timers have the same moment, so a machine that looks at the timers finds
                    // many of them due at once.
                    sleep(Duration::from_micros(500 * (i % 20))).await;
                    compute_for(Duration::from_micros(5));
                    count.fetch_add(1, SeqCst);
                })
            })
            .collect();
        for sleeper in sleepers {
            sleeper.await.unwrap();
        }
    });
    assert_eq!(finished.load(SeqCst), 2_000);
}

/// The sleeper in the netpoll must learn of a timer whose processor becomes idle, even if the
/// sleeper began to sleep before the timer was set.
#[test]
fn the_sleeper_learns_of_a_timer_whose_processor_becomes_idle() {
    for processors in [2, 8] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        for _ in 0..200 {
            let start = std::time::Instant::now();
            run(&runtime, async {
                // All processors are busy for a moment, and one of the first machines that park
                // becomes the sleeper in the netpoll.
                let company: Vec<_> = (0..8).map(|_| spawn(yield_now())).collect();
                for task in company {
                    task.await.unwrap();
                }
                sleep(Duration::from_micros(300)).await;
            });
            assert!(start.elapsed() >= Duration::from_micros(300));
        }
    }
}

/// When a processor is taken from a poll, its timers move with it.
#[test]
fn a_timer_fires_although_the_thread_that_set_it_is_stuck() {
    for hog in [Hog::Blocks, Hog::Computes] {
        for processors in [1, 2] {
            let runtime = multi(processors).build().unwrap();
            run(&runtime, async move {
                let timer = spawn(sleep(Duration::from_millis(1)));
                yield_now().await;
                hog.hold_on_until(|| timer.is_finished());
            });
        }
    }
}
