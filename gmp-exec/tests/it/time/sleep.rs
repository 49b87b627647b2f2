use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use gmp_exec::runtime::Builder;
use gmp_exec::time::{self, Instant, sleep, sleep_until};
use gmp_exec::{spawn, task};

use super::{A_MINUTE, Random, Task, both_flavors, current_thread, ms, multi_thread, paused};

#[test]
fn everything_can_be_sent_to_and_shared_with_other_threads() {
    fn check<T: Send + Sync>() {}
    check::<(time::Sleep, time::Timeout<time::Sleep>, time::Interval, Instant, time::error::Elapsed)>();
    fn check_future<F: Future + Send + Sync>(_: fn(&'static mut time::Interval) -> F) {}
    check_future(time::Interval::tick);
}

#[test]
fn sleeps_end_by_deadline_and_not_by_start() {
    paused().block_on(async {
        let ended = Arc::new(Mutex::new(Vec::new()));
        let mut delays: Vec<u64> = (1..=100).collect();
        let mut random = Random::new(1);
        (1..delays.len()).for_each(|i| delays.swap(i, random.below(i as u64 + 1) as usize));
        let tasks: Vec<_> = delays
            .into_iter()
            .map(|delay| {
                let ended = ended.clone();
                spawn(async move {
                    sleep(ms(delay)).await;
                    ended.lock().unwrap().push(delay);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*ended.lock().unwrap(), (1..=100).collect::<Vec<_>>());
    });
}

#[test]
fn a_sleep_first_polled_after_its_deadline_is_ready() {
    for runtime in both_flavors() {
        runtime.block_on(async {
            let mut short = pin!(sleep(ms(10)));
            sleep(ms(20)).await;
            let first = std::future::poll_fn(|cx| Poll::Ready(short.as_mut().poll(cx))).await;
            assert_eq!(first, Poll::Ready(()), "the root future");
            let first = spawn(async {
                let mut short = pin!(sleep(ms(10)));
                sleep(ms(20)).await;
                std::future::poll_fn(|cx| Poll::Ready(short.as_mut().poll(cx))).await
            });
            assert_eq!(first.await.unwrap(), Poll::Ready(()), "a task");
        });
    }
}

#[test]
fn a_sleep_made_outside_and_first_polled_after_its_deadline_is_ready() {
    for runtime in both_flavors() {
        let short = {
            let _entered = runtime.enter();
            Box::pin(sleep(ms(10)))
        };
        std::thread::sleep(ms(20));
        let mut short = short;
        let first = runtime.block_on(std::future::poll_fn(|cx| Poll::Ready(short.as_mut().poll(cx))));
        assert_eq!(first, Poll::Ready(()));
    }
}

#[test]
fn a_sleep_made_in_an_earlier_poll_of_a_nested_block_on_is_ready_after_its_deadline() {
    let runtime = multi_thread(2);
    let handle = runtime.handle().clone();
    let first = runtime.spawn_blocking(move || {
        handle.block_on(async {
            let mut short = pin!(sleep(ms(10)));
            sleep(ms(20)).await;
            std::future::poll_fn(|cx| Poll::Ready(short.as_mut().poll(cx))).await
        })
    });
    assert_eq!(runtime.block_on(first).unwrap(), Poll::Ready(()));
}

/// As on tokio, a timer is ready after a look at the timers, and queued tasks run before that.
#[test]
fn a_sleep_of_no_time_lets_tasks_run_that_were_spawned_before() {
    for runtime in both_flavors() {
        let is_pending_first = |mut future: Pin<Box<dyn Future<Output = ()> + Send>>| async move {
            let first = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
            future.await;
            first.is_pending()
        };
        let check = move || async move {
            assert!(is_pending_first(Box::pin(sleep(Duration::ZERO))).await, "sleep");
            assert!(is_pending_first(Box::pin(sleep_until(Instant::now()))).await, "sleep_until");
            let mut interval = time::interval(ms(1_000));
            assert!(is_pending_first(Box::pin(async move { _ = interval.tick().await })).await, "interval");
            let timeout = time::timeout(Duration::ZERO, std::future::pending::<()>());
            assert!(is_pending_first(Box::pin(async { assert!(timeout.await.is_err()) })).await, "timeout");
            let long_ago = Instant::now() - ms(100);
            assert!(!is_pending_first(Box::pin(sleep_until(long_ago))).await, "long ago");
        };
        runtime.block_on(check());
        runtime.block_on(runtime.spawn(check())).unwrap();
    }
}

#[test]
fn a_sleep_never_ends_early() {
    for runtime in both_flavors() {
        runtime.block_on(async {
            let mut random = Random::new(2);
            let tasks: Vec<_> = (0..200)
                .map(|_| {
                    let deadline = Instant::now() + Duration::from_nanos(random.below(3_000_000));
                    spawn(async move {
                        sleep_until(deadline).await;
                        assert!(Instant::now() >= deadline);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

/// On a busy machine single sleeps may be late, but not all of them.
#[test]
fn sleeps_shorter_than_a_millisecond_are_not_rounded_up() {
    for runtime in both_flavors() {
        let shortest = runtime.block_on(async {
            let mut shortest = Duration::MAX;
            for _ in 0..200 {
                let start = Instant::now();
                sleep(Duration::from_micros(50)).await;
                shortest = shortest.min(start.elapsed());
            }
            shortest
        });
        assert!(shortest >= Duration::from_micros(50));
        assert!(shortest < Duration::from_micros(900), "{shortest:?}");
    }
}

/// 1 000 deadlines, 10 µs apart, are about ten moments on the grid.
#[test]
fn longer_sleeps_that_end_at_about_the_same_time_end_together() {
    let runtime = current_thread();
    let parks = || runtime.metrics().worker_park_count(0);
    let before = parks();
    runtime.block_on(async {
        let start = Instant::now() + ms(100);
        let deadlines = (0..1_000).map(|task| start + Duration::from_micros(10 * task));
        let tasks: Vec<_> = deadlines.map(|deadline| spawn(sleep_until(deadline))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!(Instant::now() >= start + Duration::from_micros(9_990));
    });
    assert!(parks() - before <= 30, "slept {} times", parks() - before);
}

/// One machine wakes up for each of the timers, and no second one for nothing. sysmon may sometimes
/// wake one.
#[test]
fn short_sleeps_of_one_task_wake_one_thread_each() {
    let runtime = multi_thread(2);
    let parks = || (0..2).map(|worker| runtime.metrics().worker_park_count(worker)).sum::<u64>();
    let sleep_often = || {
        let before = parks();
        let task = runtime.spawn(async {
            for _ in 0..200 {
                sleep(Duration::from_micros(500)).await;
            }
        });
        runtime.block_on(task).unwrap();
        parks() - before
    };
    let least = (0..5).map(|_| sleep_often()).min().unwrap();
    assert!(least < 300, "{least} for 200 sleeps");
}

#[test]
fn a_deadline_in_the_past_is_ready_at_the_first_poll() {
    current_thread().block_on(async {
        let task = Task::new();
        assert_eq!(task.poll(Box::pin(sleep_until(Instant::now() - ms(10)))), Poll::Ready(()));
        assert_eq!((task.wakes(), task.wakers_elsewhere()), (0, 0));
    });
}

#[test]
fn a_sleep_polled_for_the_first_time_after_its_deadline_ends_at_once() {
    for runtime in both_flavors() {
        runtime.block_on(async {
            let nap = sleep(ms(2));
            std::thread::sleep(ms(3));
            time::timeout(A_MINUTE, nap).await.expect("the timer was lost");
        });
    }
    paused().block_on(async {
        let (task, nap) = (Task::new(), Box::pin(sleep(ms(2))));
        time::advance(ms(2)).await;
        assert!(task.poll(nap).is_ready(), "a clock that jumps is looked at");
    });
}

#[test]
fn a_finished_sleep_stays_ready() {
    paused().block_on(async {
        let mut nap = pin!(sleep(ms(1)));
        nap.as_mut().await;
        nap.as_mut().await;
    });
}

#[test]
fn the_longest_sleep_is_30_years_and_overflows_nothing() {
    paused().block_on(async {
        let start = Instant::now();
        sleep(Duration::MAX).await;
        assert_eq!(start.elapsed(), Duration::from_secs(30 * 365 * 24 * 3_600));
        sleep(Duration::MAX).await;
    });
}

#[test]
fn dropping_a_sleep_takes_its_waker_back() {
    paused().block_on(async {
        let task = Task::new();
        let mut nap = Box::pin(sleep(ms(1)));
        assert_eq!(task.wakers_elsewhere(), 0);
        assert!(task.poll(nap.as_mut()).is_pending());
        assert_eq!(task.wakers_elsewhere(), 1);
        drop(nap);
        assert_eq!(task.wakers_elsewhere(), 0);
        time::advance(ms(2)).await;
        assert_eq!(task.wakes(), 0);
    });
}

#[test]
fn only_the_waker_of_the_last_poll_is_woken() {
    paused().block_on(async {
        let (first, second) = (Task::new(), Task::new());
        let mut nap = Box::pin(sleep(ms(1)));
        assert!(first.poll(nap.as_mut()).is_pending());
        assert!(second.poll(nap.as_mut()).is_pending());
        time::advance(ms(1)).await;
        assert_eq!((first.wakes(), second.wakes()), (0, 1));
    });
}

#[test]
fn a_reset_moves_a_waiting_task_to_the_new_deadline() {
    paused().block_on(async {
        for (old, new) in [(ms(10), ms(20)), (ms(20), ms(10))] {
            let task = Task::new();
            let start = Instant::now();
            let mut nap = Box::pin(sleep(old));
            assert!(task.poll(nap.as_mut()).is_pending());
            nap.as_mut().reset(start + new);
            assert_eq!(nap.deadline(), start + new);
            time::advance(new - ms(1)).await;
            assert_eq!(task.wakes(), 0);
            time::advance(ms(1)).await;
            assert_eq!(task.wakes(), 1);
            assert!(task.poll(nap.as_mut()).is_ready());
        }
    });
}

#[test]
fn a_reset_to_the_past_is_ready_at_once_and_wakes_the_waiting_task() {
    paused().block_on(async {
        let task = Task::new();
        let start = Instant::now();
        let mut nap = Box::pin(sleep(ms(100)));
        assert!(task.poll(nap.as_mut()).is_pending());
        time::advance(ms(50)).await;
        nap.as_mut().reset(start + ms(40));
        assert_eq!((task.wakes(), task.wakers_elsewhere()), (1, 0));
        assert!(task.poll(nap.as_mut()).is_ready());
    });
}

#[test]
fn a_reset_starts_a_finished_sleep_again() {
    paused().block_on(async {
        let start = Instant::now();
        let mut nap = pin!(sleep(ms(100)));
        nap.as_mut().await;
        nap.as_mut().reset(start + ms(110));
        nap.as_mut().await;
        assert_eq!(start.elapsed(), ms(110));
    });
}

#[test]
fn a_sleep_has_elapsed_when_it_was_begun_and_its_deadline_passed() {
    paused().block_on(async {
        let mut nap = Box::pin(sleep(Duration::ZERO));
        assert!(!nap.is_elapsed());
        nap.as_mut().await;
        assert!(nap.is_elapsed());
        nap.as_mut().reset(Instant::now() + ms(1));
        assert!(!nap.is_elapsed());
        time::advance(ms(1)).await;
        assert!(nap.is_elapsed());
    });
}

#[test]
fn a_sleep_fires_on_its_own_runtime_wherever_it_is_awaited() {
    let home = multi_thread(1);
    let nap = {
        let _home = home.enter();
        sleep(ms(5))
    };
    let deadline = nap.deadline();
    let elsewhere = Builder::new_current_thread().build().unwrap();
    elsewhere.block_on(nap);
    assert!(Instant::now() >= deadline);
}

#[test]
fn a_waiting_sleep_can_move_to_another_thread() {
    let runtime = multi_thread(2);
    let (task, mut nap) = runtime.block_on(async {
        let (task, mut nap) = (Task::new(), Box::pin(sleep(A_MINUTE)));
        assert!(task.poll(nap.as_mut()).is_pending());
        (task, nap)
    });
    let handle = runtime.handle().clone();
    let moved = std::thread::spawn(move || {
        handle.block_on(async {
            assert!(futures::poll!(nap.as_mut()).is_pending());
            nap.as_mut().reset(Instant::now() + ms(5));
            nap.as_mut().await;
            nap.deadline()
        })
    });
    let deadline = moved.join().unwrap();
    assert!(Instant::now() >= deadline);
    assert_eq!((task.wakes(), task.wakers_elsewhere()), (0, 0));
}

/// The timers of tasks that are stolen between two polls stay with the processor on which they were
/// set.
#[test]
fn timers_are_cancelled_moved_and_fired_from_any_thread() {
    let runtime = multi_thread(4);
    runtime.block_on(async {
        let tasks: Vec<_> = (0..64).map(|seed| spawn(restless(Random::new(seed + 1)))).collect();
        for task in tasks {
            time::timeout(A_MINUTE, task).await.expect("a timer was lost").unwrap();
        }
    });
}

async fn restless(mut random: Random) {
    for _ in 0..100 {
        let mut nap: Pin<Box<_>> = Box::pin(sleep(Duration::from_micros(random.below(500))));
        let first = futures::poll!(nap.as_mut());
        task::yield_now().await;
        match random.below(4) {
            0 => drop(nap),
            1 => nap.as_mut().reset(Instant::now() + Duration::from_micros(random.below(500))),
            _ if first.is_pending() => nap.await,
            _ => {}
        }
    }
}

#[test]
fn twenty_thousand_tasks_sleep_and_none_is_forgotten_or_early() {
    for runtime in both_flavors() {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..20_000)
                .map(|i| {
                    spawn(async move {
                        let deadline = Instant::now() + ms(1 + i % 50);
                        sleep_until(deadline).await;
                        Instant::now() >= deadline
                    })
                })
                .collect();
            for task in tasks {
                let in_time = time::timeout(A_MINUTE, task).await.expect("a timer was lost");
                assert!(in_time.unwrap());
            }
        });
    }
}

#[test]
fn a_ready_sleep_takes_one_unit_of_the_budget_and_a_pending_one_none() {
    current_thread().block_on(async {
        spawn(async {
            let task = Task::new();
            let mut far = Box::pin(sleep(A_MINUTE));
            let mut ready = 0;
            while task.poll(Box::pin(sleep_until(Instant::now() - ms(10)))).is_ready() {
                assert!(task.poll(far.as_mut()).is_pending());
                ready += 1;
            }
            assert_eq!(ready, 128);
        })
        .await
        .unwrap();
    });
}
