//! Two tasks that keep each other busy leave turns for timers and for other pairs of tasks.

use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::blocking;
use gmp_exec::time::{sleep, timeout};
use tokio::sync::mpsc;

use crate::support::{FOREVER, Flag, every_runtime, multi, run};

/// Go: `TestTimerFairness`.
#[test]
fn a_timer_fires_while_two_tasks_hammer_a_channel() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::channel::<u64>(1);
            let sender = spawn(async move { while send.send(0).await.is_ok() {} });
            let hammer = async { while receive.recv().await.is_some() {} };
            assert!(timeout(Duration::from_millis(20), hammer).await.is_err());
            drop(receive);
            sender.await.unwrap();
        });
    }
}

/// Go: `TestTimerFairness2`, the same with a system call in the loop.
#[test]
fn a_timer_fires_while_two_tasks_with_system_calls_hammer_a_channel() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::channel::<u64>(1);
            let system_call = || blocking(|| std::path::Path::new("/").exists());
            let sender = spawn(async move {
                while send.send(0).await.is_ok() {
                    system_call();
                }
            });
            let hammer = async {
                while receive.recv().await.is_some() {
                    system_call();
                }
            };
            assert!(timeout(Duration::from_millis(20), hammer).await.is_err());
            drop(receive);
            sender.await.unwrap();
        });
    }
}

/// Go: `TestAfterFuncStarvation` (#65178).
#[test]
fn a_short_timer_of_another_task_fires_behind_a_ping_pong() {
    for runtime in every_runtime() {
        run(&runtime, async {
            let stop = Flag::new();
            let pair = [ping_pong(stop.clone(), 0), ping_pong(stop.clone(), 0)].map(spawn);
            let timer = spawn(async move {
                sleep(Duration::from_micros(1)).await;
                stop.set();
            });
            timer.await.unwrap();
            for task in pair {
                task.await.unwrap();
            }
        });
    }
}

/// Sends a ball to another task and back until `stop`. Each side loops `work` times per turn.
/// Returns the number of turns.
async fn ping_pong(stop: Flag, work: u64) -> u64 {
    let (send_there, mut receive_there) = mpsc::channel(1);
    let (send_back, mut receive_back) = mpsc::channel(1);
    let partner = spawn(async move {
        while let Some(ball) = receive_there.recv().await {
            spin(work);
            if send_back.send(ball).await.is_err() {
                return;
            }
        }
    });
    let mut turns = 0;
    while !stop.is_set() {
        send_there.send(turns).await.unwrap();
        assert_eq!(receive_back.recv().await, Some(turns));
        spin(work);
        turns += 1;
    }
    drop(send_there);
    partner.await.unwrap();
    turns
}

fn spin(work: u64) {
    for _ in 0..work {
        std::hint::spin_loop();
    }
}

/// Go: `TestPingPongHog`. The pair that computes a thousand times as much must not delay the other
/// one, and the fast pair must not run from `runnext` all the time. No processor is taken, so the
/// queues alone decide.
#[test]
fn two_pairs_with_different_work_get_turns_within_a_factor_of_20() {
    let runtime = multi(1).blocking_threshold(FOREVER).build().unwrap();
    let (heavy, light) = run(&runtime, async {
        let stop = Flag::new();
        let heavy = spawn(ping_pong(stop.clone(), 10_000));
        let light = spawn(ping_pong(stop.clone(), 10));
        sleep(Duration::from_millis(100)).await;
        stop.set();
        (heavy.await.unwrap(), light.await.unwrap())
    });
    assert!(heavy > 0 && light > 0, "{heavy} and {light} turns");
    assert!(light < 20 * heavy && heavy < 20 * light, "{heavy} and {light} turns");
}
