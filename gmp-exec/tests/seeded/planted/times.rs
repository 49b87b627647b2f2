//! Timers that are expected to be exact.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::stream::{FuturesUnordered, StreamExt};
use gmp_exec::task::yield_now;
use gmp_exec::{spawn, time};

use super::{check_budget, on_one_thread};

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) fn order_of_timers() {
    on_one_thread(async {
        let names = Arc::new(Mutex::new(Vec::new()));
        let sleeper = |duration| {
            let names = names.clone();
            spawn(async move {
                time::sleep(duration).await;
                names.lock().unwrap().push(duration);
            })
        };
        let tasks = [sleeper(ms(20)), sleeper(ms(21))];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*names.lock().unwrap(), [ms(20), ms(21)]);
    });
}

/// Both wake the same task, which polls first what was woken first.
pub(crate) fn same_deadline() {
    async fn sleep(deadline: Instant, name: u32) -> u32 {
        time::sleep_until(deadline.into()).await;
        name
    }
    on_one_thread(async {
        let deadline = Instant::now() + ms(20);
        let mut sleeps: FuturesUnordered<_> = (0..2).map(|name| sleep(deadline, name)).collect();
        assert_eq!(sleeps.next().await, Some(0));
    });
}

pub(crate) fn exact_timer() {
    on_one_thread(async {
        tokio::select! {
            biased;
            () = time::sleep(ms(20)) => panic!("too late"),
            () = time::sleep(ms(19)) => {}
        }
    });
}

/// The time is up although the future could always go on.
pub(crate) fn short_limit() {
    on_one_thread(async {
        let polls = async {
            for _ in 0..50 {
                yield_now().await;
            }
        };
        time::timeout(ms(1), polls).await.expect("the future never waits");
    });
}

/// The time is up between two steps that belong together.
pub(crate) fn cut_between_steps() {
    async fn move_one(lists: &Mutex<(Vec<u32>, Vec<u32>)>) {
        time::sleep(ms(19)).await;
        let number = lists.lock().unwrap().0.pop().unwrap();
        check_budget().await;
        lists.lock().unwrap().1.push(number);
    }
    on_one_thread(async {
        let lists = Mutex::new((vec![1], vec![]));
        let _ = time::timeout(ms(20), move_one(&lists)).await;
        let lists = lists.into_inner().unwrap();
        assert_eq!(lists.0.len() + lists.1.len(), 1);
    });
}
