use std::future::pending;
use std::pin::pin;

use gmp_exec::runtime::Builder;
use gmp_exec::spawn;
use gmp_exec::time::{self, Duration, Instant, advance, pause, resume, sleep};

use super::{A_MINUTE, Random, Task, current_thread, ms, multi_thread, paused};
use crate::support::Watchdog;

#[test]
fn a_paused_clock_shows_the_same_moment_until_it_is_advanced() {
    paused().block_on(async {
        let start = Instant::now();
        std::thread::sleep(ms(2));
        assert_eq!(Instant::now(), start);
        for step in [Duration::from_nanos(1), Duration::from_micros(51_592), ms(3)] {
            let before = Instant::now();
            advance(step).await;
            assert_eq!(before.elapsed(), step);
        }
    });
}

#[test]
fn a_resumed_clock_goes_on_from_where_it_stood() {
    current_thread().block_on(async {
        let start = Instant::now();
        pause();
        advance(Duration::from_secs(3_600)).await;
        resume();
        let resumed = start.elapsed();
        assert!(resumed >= Duration::from_secs(3_600) && resumed < Duration::from_secs(7_200));
        sleep(ms(1)).await;
        assert!(start.elapsed() >= resumed + ms(1));
        pause();
        let second = Instant::now();
        std::thread::sleep(ms(2));
        assert_eq!(Instant::now(), second);
    });
}

#[test]
fn a_paused_runtime_with_nothing_to_do_jumps_to_the_next_deadline() {
    paused().block_on(async {
        let (real, start) = (std::time::Instant::now(), Instant::now());
        sleep(Duration::from_secs(3_600)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(3_600));
        assert!(real.elapsed() < A_MINUTE);
    });
}

/// Up to the last moment that the clock can represent, at which every later deadline has passed,
/// too.
#[test]
fn a_paused_runtime_reaches_a_deadline_beyond_what_its_clock_can_show() {
    let runtime = paused();
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(async {
        let a_millennium = Duration::from_secs(1_000 * 365 * 24 * 3_600);
        for _ in 0..2 {
            time::timeout_at(Instant::now() + a_millennium, pending::<()>()).await.unwrap_err();
            let mut moved = pin!(sleep(ms(1)));
            moved.as_mut().reset(Instant::now() + a_millennium);
            moved.await;
        }
    });
}

#[test]
fn a_paused_clock_can_be_advanced_by_more_than_its_timers_can_represent() {
    let runtime = paused();
    let _watchdog = Watchdog::of(&runtime);
    runtime.block_on(async {
        let a_millennium = Duration::from_secs(1_000 * 365 * 24 * 3_600);
        let start = Instant::now();
        let waiting = spawn(time::sleep_until(start + a_millennium));
        advance(a_millennium).await;
        assert_eq!(start.elapsed(), a_millennium);
        waiting.await.unwrap();
        advance(a_millennium).await;
        assert_eq!(start.elapsed(), 2 * a_millennium);
        resume();
        assert!(start.elapsed() >= 2 * a_millennium);
        sleep(ms(1)).await;
    });
}

#[test]
fn a_clock_needs_no_timers_to_be_paused() {
    for start_paused in [false, true] {
        let runtime = Builder::new_current_thread().start_paused(start_paused).build().unwrap();
        runtime.block_on(async {
            if !start_paused {
                pause();
            }
            let start = Instant::now();
            // The system's time passes: a paused clock does not follow it, and one that was resumed does.
            std::thread::sleep(ms(2));
            assert_eq!(start.elapsed(), Duration::ZERO);
            advance(ms(7)).await;
            assert_eq!(start.elapsed(), ms(7));
            resume();
            std::thread::sleep(ms(2));
            assert!(start.elapsed() >= ms(9));
        });
    }
}

#[test]
fn the_clock_does_not_jump_while_a_task_can_run() {
    paused().block_on(async {
        let start = Instant::now();
        let busy = spawn(async move {
            for _ in 0..1_000 {
                gmp_exec::task::yield_now().await;
                assert_eq!(start.elapsed(), Duration::ZERO);
            }
        });
        sleep(ms(1)).await;
        assert_eq!(start.elapsed(), ms(1));
        busy.await.unwrap();
    });
}

#[test]
fn the_clock_does_not_jump_while_a_blocking_closure_runs() {
    paused().block_on(async {
        let start = Instant::now();
        let closure = gmp_exec::task::spawn_blocking(|| std::thread::sleep(ms(20)));
        time::timeout(ms(1), closure).await.expect("the clock jumped to the timeout").unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

#[test]
fn every_step_of_a_paused_run_is_the_same_in_each_run() {
    fn run() -> Vec<Duration> {
        paused().block_on(async {
            let (mut random, start, mut moments) = (Random::new(3), Instant::now(), Vec::new());
            for _ in 0..10_000 {
                sleep(Duration::from_nanos(random.below(1_000_000_000))).await;
                moments.push(start.elapsed());
            }
            moments
        })
    }
    assert_eq!(run(), run());
}

#[test]
fn advancing_wakes_what_became_due_before_it_returns() {
    paused().block_on(async {
        let task = Task::new();
        let mut nap = Box::pin(sleep(ms(1)));
        assert!(task.poll(nap.as_mut()).is_pending());
        for quarter in 1..=4 {
            assert_eq!(task.wakes(), 0, "before quarter {quarter}");
            advance(Duration::from_micros(250)).await;
        }
        assert_eq!(task.wakes(), 1);
        assert!(task.poll(nap.as_mut()).is_ready());
    });
}

#[test]
fn advancing_wakes_also_when_other_tasks_never_wait() {
    paused().block_on(async {
        for _ in 0..3 {
            spawn(async {
                loop {
                    gmp_exec::task::yield_now().await;
                }
            });
        }
        for _ in 0..20 {
            let task = Task::new();
            let mut nap = Box::pin(sleep(ms(1)));
            assert!(task.poll(nap.as_mut()).is_pending());
            advance(ms(1)).await;
            assert_eq!(task.wakes(), 1);
        }
    });
}

#[test]
fn pausing_one_runtime_leaves_the_others_alone() {
    let frozen = paused();
    frozen.block_on(advance(Duration::from_secs(3_600)));
    let before = std::time::Instant::now();
    let outside = Instant::now().into_std();
    let other = multi_thread(1).block_on(async { Instant::now().into_std() });
    let after = std::time::Instant::now();
    assert!((before..=after).contains(&outside) && (before..=after).contains(&other));
}
