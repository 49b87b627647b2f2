//! A task that has held on to its thread is expected to do so again: its processor is handed on before the poll.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::hold_on_until_others_ran;
use crate::futures::join;
use crate::support::{Flag, multi, run, taken};

/// Makes the running task hold on to its thread over several polls, each of which ends only after others have run.
async fn hold_on(polls: usize, wait: fn(&Flag)) {
    for _ in 0..polls {
        hold_on_until_others_ran(wait);
        thread::sleep(Duration::from_millis(5));
        yield_now().await;
    }
}

#[test]
fn a_known_hog_hands_its_processor_on_before_it_starts() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async { spawn(hold_on(6, Flag::wait)).await.unwrap() });
    let (blocked, computing) = taken(&runtime);
    assert_eq!(blocked + computing, 1, "only the first poll holds on to the processor");
}

#[test]
fn a_hog_is_forgiven_after_a_short_poll() {
    let runtime = multi(1).blocking_threshold(Duration::from_millis(300)).build().unwrap();
    run(&runtime, async {
        let reformed = spawn(async {
            for _ in 0..2 {
                hold_on(3, Flag::wait).await;
                // Some in a row will be short even on a busy machine.
                for _ in 0..200 {
                    yield_now().await;
                }
            }
        });
        reformed.await.unwrap();
    });
    let (blocked, computing) = taken(&runtime);
    assert_eq!(blocked + computing, 2, "a forgiven task holds on to the processor once more");
}

#[test]
fn known_hogs_do_not_delay_each_other_or_anybody() {
    let runtime = multi(2).max_hogs(8).build().unwrap();
    for wait in [Flag::wait, Flag::busy_wait] {
        run(&runtime, async move {
            let hogs = (0..8).map(|_| spawn(hold_on(5, wait))).collect();
            join(hogs).await;
        });
    }
}

/// A place is for a thread that computes. A hog that sleeps in its place gives it up: what waits in line, or has no place
/// yet, may be what it waits for.
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
