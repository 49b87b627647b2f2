//! New tasks, such as the requests to a server: when they block, they do not delay other tasks
//! either.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use gmp_exec::runtime::Builder;
use gmp_exec::spawn;
use gmp_exec::time::sleep;

use super::measure::{mostly_below, outside_spawn};
use crate::futures::join;
use crate::support::{Flag, Watchdog, alone, multi, run, wait_until};

/// Spawns a burst of tasks, and another task as soon as `begun` of them have begun. Returns how
/// long the other task waits. The burst sleeps until that task has run.
fn wait_behind_a_burst(builder: &mut Builder, new_tasks: usize, begun: usize) -> Duration {
    let runtime = builder.build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (asleep, end) = (Arc::new(AtomicUsize::new(0)), Flag::new());
    let sleepers = (0..new_tasks).map(|_| {
        let (asleep, end) = (asleep.clone(), end.clone());
        runtime.spawn(async move {
            asleep.fetch_add(1, SeqCst);
            end.wait();
        })
    });
    let sleepers = sleepers.collect();
    wait_until(|| asleep.load(SeqCst) >= begun);
    let waited = outside_spawn(&runtime);
    end.set();
    run(&runtime, join(sleepers));
    waited
}

#[test]
fn a_burst_of_new_tasks_that_sleep_does_not_delay_others() {
    let _alone = alone();
    mostly_below(Duration::from_millis(150), 7, || wait_behind_a_burst(&mut multi(2), 64, 0));
}

/// The threshold does not apply to tasks that sleep: with half a second for each, the test would
/// take four seconds.
#[test]
fn a_sleeping_thread_loses_its_processor_at_once_whatever_the_threshold() {
    mostly_below(Duration::from_secs(1), 3, || {
        wait_behind_a_burst(multi(2).blocking_threshold(Duration::from_millis(500)), 16, 0)
    });
}

/// No work waits behind the burst until every processor has one of its tasks.
#[test]
fn a_sleeping_new_task_on_each_of_many_processors_does_not_delay_others() {
    mostly_below(Duration::from_secs(1), 3, || {
        wait_behind_a_burst(multi(8).blocking_threshold(Duration::from_secs(2)), 8, 8)
    });
}

/// How late a timer is that comes due while two tasks sleep. Nothing waits when the second one
/// begins, so only the timer is a reason to take the only processor from it.
fn lateness_of_a_timer_behind_two_sleepers() -> Duration {
    const AFTER: Duration = Duration::from_millis(8);
    // At its regular pace, sysmon looks every 100 ms.
    let runtime = multi(1).blocking_threshold(Duration::from_secs(100)).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let sleepers = [end.clone(), end.clone()];
    let lateness = run(&runtime, async move {
        let sleepers = sleepers.map(|end| spawn(async move { end.wait() }));
        let start = Instant::now();
        sleep(AFTER).await;
        let lateness = start.elapsed() - AFTER;
        end.set();
        for sleeper in sleepers {
            sleeper.await.unwrap();
        }
        lateness
    });
    drop(runtime);
    lateness
}

#[test]
fn a_timer_behind_new_tasks_that_sleep_is_on_time() {
    let _alone = alone();
    mostly_below(Duration::from_millis(50), 7, lateness_of_a_timer_behind_two_sleepers);
}
