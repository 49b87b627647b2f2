use std::future::poll_fn;

use gmp_exec::time::{Duration, Instant, Interval, MissedTickBehavior, advance, interval, interval_at, sleep};

use super::{Task, current_thread, ms, paused};

/// Milliseconds from `start` at which the next `count` ticks are taken.
async fn ticks(start: Instant, interval: &mut Interval, count: usize) -> Vec<u128> {
    let mut taken = Vec::new();
    for _ in 0..count {
        interval.tick().await;
        taken.push(start.elapsed().as_millis());
    }
    taken
}

/// The ticks after the tick that was due at 50 has been taken at 170.
fn after_a_late_tick(behavior: MissedTickBehavior) -> Vec<u128> {
    paused().block_on(async {
        let start = Instant::now();
        let mut interval = interval(ms(50));
        interval.set_missed_tick_behavior(behavior);
        assert_eq!(interval.missed_tick_behavior(), behavior);
        assert_eq!(interval.tick().await, start);
        sleep(ms(170)).await;
        assert_eq!(interval.tick().await, start + ms(50));
        ticks(start, &mut interval, 5).await
    })
}

#[test]
fn burst_makes_up_for_missed_ticks_and_keeps_the_beat() {
    assert_eq!(after_a_late_tick(MissedTickBehavior::Burst), [170, 170, 200, 250, 300]);
}

#[test]
fn delay_starts_a_new_beat() {
    assert_eq!(after_a_late_tick(MissedTickBehavior::Delay), [220, 270, 320, 370, 420]);
}

#[test]
fn skip_leaves_missed_ticks_out_and_keeps_the_beat() {
    assert_eq!(after_a_late_tick(MissedTickBehavior::Skip), [200, 250, 300, 350, 400]);
}

#[test]
fn burst_is_the_default() {
    paused().block_on(async {
        assert_eq!(interval(ms(1)).missed_tick_behavior(), MissedTickBehavior::Burst);
        assert_eq!(MissedTickBehavior::default(), MissedTickBehavior::Burst);
    });
}

#[test]
fn a_tick_taken_5_ms_late_is_not_a_missed_one() {
    for (late, next) in [(5, 100), (6, 106)] {
        paused().block_on(async {
            let start = Instant::now();
            let mut interval = interval(ms(50));
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval.tick().await;
            sleep(ms(50 + late)).await;
            interval.tick().await;
            assert_eq!(ticks(start, &mut interval, 1).await, [next], "{late} ms late");
        });
    }
}

#[test]
fn the_first_tick_comes_at_the_start_and_the_others_one_period_apart() {
    paused().block_on(async {
        let start = Instant::now();
        let mut later = interval_at(start + ms(30), ms(10));
        assert_eq!(later.period(), ms(10));
        assert_eq!(ticks(start, &mut later, 3).await, [30, 40, 50]);
    });
}

#[test]
fn a_tick_that_is_cancelled_half_way_is_not_lost() {
    paused().block_on(async {
        let start = Instant::now();
        let mut interval = interval_at(start + ms(10), ms(10));
        assert!(gmp_exec::time::timeout(ms(5), interval.tick()).await.is_err());
        assert_eq!(interval.tick().await, start + ms(10));
    });
}

#[test]
fn a_tick_wakes_the_task_that_polled_for_it() {
    paused().block_on(async {
        let task = Task::new();
        let start = Instant::now();
        let mut interval = interval_at(start + ms(10), ms(10));
        assert!(task.poll(poll_fn(|cx| interval.poll_tick(cx))).is_pending());
        advance(ms(10)).await;
        assert_eq!(task.wakes(), 1);
        assert!(task.poll(poll_fn(|cx| interval.poll_tick(cx))).is_ready());
        assert_eq!(task.wakers_elsewhere(), 0, "a tick taken registers nothing");
    });
}

#[test]
fn resets_choose_the_next_tick_and_the_beat() {
    type Reset = fn(&mut Interval, Instant);
    let resets: [(Reset, [u128; 2]); 6] = [
        (|interval, _| interval.reset(), [150, 250]),
        (|interval, _| interval.reset_immediately(), [50, 150]),
        (|interval, _| interval.reset_after(ms(20)), [70, 170]),
        (|interval, start| interval.reset_at(start + ms(80)), [80, 180]),
        (|interval, start| interval.reset_at(start + ms(500)), [500, 600]),
        (|interval, start| interval.reset_at(start), [50, 100]),
    ];
    for (reset, expected) in resets {
        paused().block_on(async {
            let start = Instant::now();
            let mut interval = interval(ms(100));
            interval.tick().await;
            sleep(ms(50)).await;
            reset(&mut interval, start);
            assert_eq!(ticks(start, &mut interval, 2).await, expected);
        });
    }
}

#[test]
fn the_longest_period_and_delay_overflow_nothing() {
    paused().block_on(async {
        let task = Task::new();
        let mut interval = interval(Duration::MAX);
        interval.tick().await;
        assert!(task.poll(poll_fn(|cx| interval.poll_tick(cx))).is_pending());
        interval.reset();
        interval.reset_after(Duration::MAX);
        assert!(task.poll(poll_fn(|cx| interval.poll_tick(cx))).is_pending());
    });
}

/// Ticks come on a grid, but the next one is counted from when the last one was due.
#[test]
fn ticks_that_come_a_little_late_do_not_shift_the_next_ones() {
    current_thread().block_on(async {
        let start = Instant::now();
        let mut interval = interval_at(start, ms(70));
        for tick in 0..4 {
            assert_eq!(interval.tick().await, start + tick * ms(70));
        }
    });
}
