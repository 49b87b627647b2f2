//! A task that was stuck is marked as a hog: the scheduler hands off its processor before the next
//! poll.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::hold_on_until_others_ran;
use crate::futures::join;
use crate::support::{Flag, multi, run, taken};

/// Makes several polls of the running task stuck. Each of them ends only after other tasks have
/// run.
async fn hold_on(polls: usize, wait: fn(&Flag)) {
    for _ in 0..polls {
        hold_on_until_others_ran(wait);
        thread::sleep(Duration::from_millis(5));
        yield_now().await;
    }
}

#[test]
fn the_processor_of_a_marked_hog_is_handed_off_before_its_poll() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async { spawn(hold_on(6, Flag::wait)).await.unwrap() });
    let (blocked, computing) = taken(&runtime);
    assert_eq!(blocked + computing, 1, "only the first poll holds the processor");
}

#[test]
fn a_hog_is_unmarked_after_short_polls() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async {
        let reformed = spawn(async {
            for _ in 0..2 {
                hold_on(3, Flag::wait).await;
                // Even on a busy system, enough polls in a row will be short.
                for _ in 0..200 {
                    yield_now().await;
                }
            }
        });
        reformed.await.unwrap();
    });
    let (blocked, computing) = taken(&runtime);
    assert_eq!(blocked + computing, 2, "an unmarked task holds the processor once more");
}

#[test]
fn marked_hogs_do_not_delay_each_other_or_other_tasks() {
    let runtime = multi(2).max_hogs(8).build().unwrap();
    for wait in [Flag::wait, Flag::busy_wait] {
        run(&runtime, async move {
            let hogs = (0..8).map(|_| spawn(hold_on(5, wait))).collect();
            join(hogs).await;
        });
    }
}

/// A hog with a permit that sleeps may wait for a task that waits for a permit. sysmon lets that one in.
#[test]
fn a_hog_that_sleeps_lets_the_next_one_compute() {
    for processors in [1, 2] {
        let runtime = multi(processors).max_hogs(1).build().unwrap();
        run(&runtime, async {
            let (asleep, awake) = (Flag::new(), Flag::new());
            let sleeper = spawn({
                let (asleep, awake) = (asleep.clone(), awake.clone());
                async move {
                    hold_on(3, Flag::busy_wait).await;
                    asleep.set();
                    awake.wait();
                }
            });
            let waker = spawn(async move {
                while !asleep.is_set() {
                    hold_on(1, Flag::busy_wait).await;
                }
                awake.set();
            });
            join(vec![sleeper, waker]).await;
        });
    }
}
