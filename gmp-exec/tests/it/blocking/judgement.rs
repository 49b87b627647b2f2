//! Who computes is not taken for one that sleeps, however little of a core it gets: threads that sleep may be any number, threads
//! that compute may not.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::measure::{Gauge, use_cpu};
use crate::futures::join;
use crate::support::{Flag, alone, in_child_with_little_time, multi, run, taken};

const LONG: Duration = Duration::from_millis(20);

/// Far more than two processors and four hogs, for those that are let go on a little early.
const MANY: usize = 30;

/// Threads that have nothing to do with the runtime and leave little of the cores to it: whoever computes there stands still for
/// most of the time, runnable.
struct Neighbours {
    end: Flag,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Neighbours {
    fn new(threads: usize) -> Neighbours {
        let end = Flag::new();
        let computing = |_| {
            let end = end.clone();
            thread::spawn(move || end.busy_wait())
        };
        Neighbours { threads: (0..threads).map(computing).collect(), end }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        self.end.set();
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn tasks_that_compute_on_crowded_cores_are_not_taken_for_sleeping_ones() {
    let _alone = alone();
    let _neighbours = Neighbours::new(8);
    a_crowd_computes();
}

/// All threads stand still at the same time, the one that looks at the others as well.
#[test]
fn tasks_that_compute_under_a_quota_are_not_taken_for_sleeping_ones() {
    let _alone = alone();
    let test = "blocking::judgement::tasks_that_compute_under_a_quota_are_not_taken_for_sleeping_ones";
    in_child_with_little_time(test, a_crowd_computes);
}

fn a_crowd_computes() {
    let runtime = multi(2).max_hogs(4).build().unwrap();
    let gauge = Gauge::default();
    let all = gauge.clone();
    run(&runtime, async move {
        let tasks = (0..60).map(|_| {
            let gauge = all.clone();
            spawn(async move {
                for _ in 0..2 {
                    gauge.during(|| use_cpu(LONG));
                    yield_now().await;
                }
            })
        });
        join(tasks.collect()).await;
    });
    let (blocked, computing) = taken(&runtime);
    let most = gauge.most();
    assert!(most <= MANY, "{most} compute at once; {blocked} blocked, {computing} computing");
    assert!(blocked <= 5, "{blocked} blocked, {computing} computing");
}

/// A task that has slept is let go on without a processor, because it costs nobody anything. When it computes instead, that is
/// seen, and it counts as one that computes from its next poll on.
#[test]
fn a_task_that_has_slept_once_may_not_compute_without_limit() {
    let _alone = alone();
    let runtime = multi(2).max_hogs(4).build().unwrap();
    let gauge = Gauge::default();
    let all = gauge.clone();
    run(&runtime, async move {
        let tasks = (0..40).map(|_| {
            let gauge = all.clone();
            spawn(async move {
                thread::sleep(LONG);
                yield_now().await;
                use_cpu(LONG);
                yield_now().await;
                for _ in 0..3 {
                    gauge.during(|| use_cpu(LONG));
                    yield_now().await;
                }
            })
        });
        join(tasks.collect()).await;
    });
    let (blocked, computing) = taken(&runtime);
    let most = gauge.most();
    assert!(most <= MANY, "{most} compute at once; {blocked} blocked, {computing} computing");
}
