//! Many timers, which many tasks set, move, drop and fire at a time.

use std::future::pending;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::time::{interval, sleep, timeout};

use crate::futures::join;
use crate::support::{PATIENCE, Random, compute_for, every_runtime, multi, run};

/// Go: `TestTickerConcurrentStress`, `TestTimerStopStress`. Many tasks set, move, drop and fire
/// timers at a time.
#[test]
fn timers_that_many_tasks_set_move_and_drop_fire_for_each_that_waits() {
    let runtime = multi(4).build().unwrap();
    let fired = run(&runtime, async {
        let tasks = (0..200u64).map(|seed| spawn(use_timers(Random::new(seed)))).collect();
        join(tasks).await.into_iter().sum::<u64>()
    });
    assert_eq!(fired, 200 * 20);
}

async fn use_timers(mut random: Random) -> u64 {
    let mut fired = 0;
    for _ in 0..20 {
        let dropped = sleep(Duration::from_micros(random.below(500)));
        let short = Duration::from_micros(random.below(500));
        let _ = timeout(short, pending::<()>()).await;
        drop(dropped);
        let mut moved = std::pin::pin!(sleep(PATIENCE));
        assert!(futures::poll!(moved.as_mut()).is_pending());
        moved.as_mut().reset(gmp_exec::time::Instant::now() + Duration::from_micros(random.below(500)));
        moved.await;
        fired += 1;
    }
    fired
}

/// Go: `TestMultiWakeupTicker`, `TestTickerStress`. No tick is lost while other tasks compute.
#[test]
fn tickers_of_many_tasks_tick_beside_work() {
    let runtime = multi(2).build().unwrap();
    run(&runtime, async {
        let tickers = (0..10).map(|_| {
            spawn(async {
                let mut ticker = interval(Duration::from_millis(3));
                for _ in 0..20 {
                    ticker.tick().await;
                    compute_for(Duration::from_micros(300));
                }
            })
        });
        join(tickers.collect()).await;
    });
}

/// Go: `TestSleepZeroDeadlock`.
#[test]
fn sleeping_for_no_time_in_a_loop_does_not_stop_others() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let sleepers = (0..4).map(|_| {
                spawn(async {
                    for _ in 0..500 {
                        sleep(Duration::ZERO).await;
                        spawn(async {}).await.unwrap();
                    }
                })
            });
            join(sleepers.collect()).await;
        });
    }
}
