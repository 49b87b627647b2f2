//! sysmon does not take a computing thread for a sleeping one, however little of a core it gets.
//! The difference matters because the number of computing threads is limited, and that of sleeping
//! threads is not.

use std::thread;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::measure::{Gauge, use_cpu};
use crate::futures::join;
use crate::support::{Flag, alone, in_child_with_little_time, multi, run, taken};

const LONG: Duration = Duration::from_millis(20);

/// Far more than two processors and four hogs, because sysmon lets some hogs go on early.
const MANY: usize = 30;

/// Threads outside of the runtime that leave little of the cores to it: a computing thread of the
/// runtime is runnable, but stands still for most of the time.
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

/// All threads stand still at the same time, including sysmon.
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

/// A task whose poll has slept runs without a processor from then on, because a sleeping thread
/// needs no core. If it computes instead, sysmon notices, and from its next poll on the task is
/// marked as computing.
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
