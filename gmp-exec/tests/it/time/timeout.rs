use std::future::{pending, ready};
use std::io;
use std::time::Duration;

use gmp_exec::task::coop;
use gmp_exec::time::{self, Instant, sleep, timeout, timeout_at};

use super::{Task, both_flavors, current_thread, ms, paused};

#[test]
fn a_future_that_is_ready_wins_against_a_deadline_in_the_past() {
    current_thread().block_on(async {
        assert_eq!(timeout_at(Instant::now() - ms(1), ready(1)).await, Ok(1));
        assert_eq!(timeout(Duration::ZERO, ready(2)).await, Ok(2));
    });
}

#[test]
fn a_pending_future_times_out_at_the_deadline() {
    paused().block_on(async {
        let start = Instant::now();
        let elapsed = timeout(ms(30), pending::<()>()).await.unwrap_err();
        assert_eq!(start.elapsed(), ms(30));
        assert_eq!(elapsed.to_string(), "deadline has elapsed");
        assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
        assert!(timeout_at(start, pending::<()>()).await.is_err());
    });
}

#[test]
fn a_future_finished_in_time_gives_its_output() {
    for runtime in both_flavors() {
        let output = runtime.block_on(timeout_in_task());
        assert_eq!(output, Ok(7));
    }
}

async fn timeout_in_task() -> Result<u32, time::error::Elapsed> {
    let work = async {
        sleep(ms(2)).await;
        7
    };
    timeout(super::A_MINUTE, work).await
}

#[test]
fn a_future_that_spends_its_whole_budget_still_times_out() {
    for runtime in both_flavors() {
        runtime.block_on(async {
            let hungry = async {
                loop {
                    coop::consume_budget().await;
                }
            };
            assert!(timeout(ms(2), hungry).await.is_err());
        });
    }
}

#[test]
fn a_duration_too_long_for_the_clock_is_no_limit() {
    paused().block_on(async {
        let month = Duration::from_secs(30 * 24 * 3_600);
        assert_eq!(timeout(Duration::MAX, sleep(month)).await, Ok(()));
    });
}

#[test]
fn the_future_can_be_seen_changed_and_taken_out() {
    paused().block_on(async {
        let mut limited = timeout(ms(1), ready(1));
        assert_eq!(limited.get_ref().clone().into_inner(), 1);
        *limited.get_mut() = ready(2);
        assert_eq!(limited.into_inner().await, 2);
    });
}

#[test]
fn dropping_a_timeout_cancels_its_deadline_and_drops_the_future() {
    paused().block_on(async {
        let (task, guard) = (Task::new(), std::sync::Arc::new(()));
        let held = guard.clone();
        let mut limited = Box::pin(timeout(ms(1), async move {
            pending::<()>().await;
            drop(held);
        }));
        assert!(task.poll(limited.as_mut()).is_pending());
        assert_eq!(task.wakers_elsewhere(), 1);
        drop(limited);
        assert_eq!((task.wakers_elsewhere(), std::sync::Arc::strong_count(&guard)), (0, 1));
    });
}

#[test]
fn a_future_ready_at_once_sets_no_timer() {
    paused().block_on(async {
        let task = Task::new();
        let mut limited = Box::pin(timeout(ms(1), ready(1)));
        assert!(task.poll(limited.as_mut()).is_ready());
        assert_eq!(task.wakers_elsewhere(), 0);
    });
}

#[test]
fn timeouts_nest_and_the_shorter_one_decides() {
    paused().block_on(async {
        let start = Instant::now();
        assert_eq!(timeout(ms(20), timeout(ms(10), pending::<()>())).await.map(|inner| inner.is_err()), Ok(true));
        assert_eq!(start.elapsed(), ms(10));
        assert!(timeout(ms(10), timeout(ms(20), pending::<()>())).await.is_err());
        assert_eq!(start.elapsed(), ms(20));
    });
}
